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

  /** Fails if it was closed: what was made of it stays valid, and nothing more is made. */
  public void expectOpen() {
    codec.expectOpen();
  }

  /** Returns its address in this shard, with the present keys. */
  public long in(Crossing crossing) {
    long made = codec.in(crossing);
    Ring present = ring;
    if (rings[crossing.shard().index] != present) {
      set(crossing, made, present);
      rings[crossing.shard().index] = present;
    }
    return made;
  }

  /** Gives the present keys to what was made of it in this shard, unless it was closed. */
  public void refresh(Crossing crossing) {
    if (codec.isOpen()) {
      in(crossing);
    }
  }

  /**
   * Makes an object of a codec with these keys, which may no longer be the present ones.
   *
   * @return what {@code body} returns
   */
  public long with(Crossing crossing, Ring keys, ObjectFunction<Long> body) {
    if (keys == ring && codec.isOpen()) {
      long present = in(crossing);
      if (rings[crossing.shard().index] == keys) {
        return body.apply(crossing, present);
      }
    }
    long former = make(crossing, keys);
    try {
      return body.apply(crossing, former);
    } finally {
      crossing.plain(Function.CODEC_FREE, former);
    }
  }

  /** Replaces the keys; returns whether they are others than before. If it throws, they are not. */
  public boolean setKeys(Ring next) {
    changing.lock();
    try {
      boolean changed =
          codec.cross(
              (x, address) -> {
                if (!set(x, in(x), next)) {
                  return false;
                }
                rings[x.shard().index] = next;
                // From here on they are the keys of all shards: where they fail to be set now, they
                // are at the next use.
                ring = next;
                return true;
              });
      if (changed) {
        codec.crossAll((x, address) -> in(x));
      }
      return changed;
    } finally {
      changing.unlock();
    }
  }

  private static boolean set(Crossing crossing, long present, Ring next) {
    return next.with(
        crossing,
        (x, keys) -> {
          long changed = x.room(1);
          x.call(Function.CODEC_SET_KEYS, present, keys, changed);
          return x.readBoolean(changed);
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
