package io.github.sealwax.internal;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A codec in every shard, all with the same keys. */
public final class CodecObject implements AutoCloseable {
  private final Library library;
  private final byte[] audience;
  private final Limits limits;
  private final @Nullable Replicated clock;
  private final Replicated codec;

  /**
   * The rings that the copies have. An element belongs to the thread that holds its shard's lock.
   */
  private final @Nullable Ring[] rings;

  private final ReentrantLock changing = new ReentrantLock();
  private volatile Ring ring;

  /** The limits of a codec; {@code null} is the default. */
  public record Limits(@Nullable Long payload, @Nullable Long skew, @Nullable Long sessionMaxAge) {}

  /**
   * Makes a codec, checked.
   *
   * @param clock a test's clock, or {@code null} for the system's
   */
  public CodecObject(
      Library library, Ring ring, byte[] audience, Limits limits, @Nullable Replicated clock) {
    this.library = library;
    this.ring = ring;
    this.audience = audience;
    this.limits = limits;
    this.clock = clock;
    rings = new Ring[library.size()];
    codec = new Replicated(library, this::makeCurrent, Function.CODEC_FREE);
    codec.cross((x, made) -> made);
  }

  /** Returns where it lives. */
  public Library library() {
    return library;
  }

  /** Returns the present keys. */
  public Ring ring() {
    return ring;
  }

  /** Returns its address in this shard, with the present keys. */
  public long in(Crossing crossing) {
    return codec.in(crossing);
  }

  /**
   * Makes an object of a codec with these keys, which may no longer be the present ones.
   *
   * @return what {@code body} returns
   */
  public long with(Crossing crossing, Ring keys, ObjectFunction<Long> body) {
    long present = codec.in(crossing);
    if (rings[crossing.shard().index] == keys) {
      return body.apply(crossing, present);
    }
    long former = make(crossing, keys);
    try {
      return body.apply(crossing, former);
    } finally {
      crossing.plain(Function.CODEC_FREE, former);
    }
  }

  /** Replaces the keys in all shards; returns whether they are others than before. */
  public boolean setKeys(Ring next) {
    changing.lock();
    try {
      boolean changed = codec.cross((x, present) -> set(x, present, next));
      if (changed) {
        // Shards that have no codec yet begin with these; the others get them now.
        ring = next;
        codec.crossAll((x, present) -> set(x, present, next));
      }
      return changed;
    } finally {
      changing.unlock();
    }
  }

  private boolean set(Crossing crossing, long present, Ring next) {
    return next.with(
        crossing,
        (x, keys) -> {
          long changed = x.room(1);
          x.call(Function.CODEC_SET_KEYS, present, keys, changed);
          if (!x.readBoolean(changed)) {
            return false;
          }
          rings[x.shard().index] = next;
          return true;
        });
  }

  private long makeCurrent(Crossing crossing) {
    Ring present = ring;
    long made = make(crossing, present);
    rings[crossing.shard().index] = present;
    return made;
  }

  private long make(Crossing crossing, Ring keys) {
    return keys.with(
        crossing,
        (x, ringAddress) -> {
          long place = x.room(x.pointerSize());
          long limit =
              x.struct(3 * x.pointerSize())
                  .word(x.number(limits.payload))
                  .word(x.number(limits.skew))
                  .word(x.number(limits.sessionMaxAge))
                  .address();
          long name = x.bytes(audience);
          if (clock == null) {
            x.call(Function.CODEC_NEW, ringAddress, name, audience.length, limit, place);
          } else {
            x.call(
                Function.TEST_CODEC_NEW,
                ringAddress,
                name,
                audience.length,
                limit,
                clock.in(x),
                place);
          }
          return x.readWord(place);
        });
  }

  /** Frees it; what was made of it stays valid. */
  @Override
  public void close() {
    codec.close();
  }
}
