package io.github.sealwax.internal;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A codec in every pooled instance, all with the same keys. */
public final class CodecObject implements AutoCloseable {
  private final Library library;
  private final byte[] audience;
  private final Limits limits;
  private final @Nullable Replicated clock;
  private final Replicated codec;

  /**
   * The rings that the copies have. An element belongs to the thread that holds its pooled
   * instance's lock.
   */
  private final @Nullable Ring[] rings;

  private final ReentrantLock changing = new ReentrantLock();
  private volatile Ring ring;

  /** The limits of a codec; {@code null} is the default. */
  public record Limits(
      @Nullable Long payload, @Nullable Long clockTolerance, @Nullable Long sessionMaxAge) {}

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
    codec.call((x, made) -> made);
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

  /** Returns its address in this pooled instance, with the present keys. */
  public long in(Call call) {
    long made = codec.in(call);
    Ring present = ring;
    if (rings[call.pooled().index] != present) {
      set(call, made, present);
      rings[call.pooled().index] = present;
    }
    return made;
  }

  /**
   * Gives the present keys to what was made of it in this pooled instance, unless it was closed.
   */
  public void refresh(Call call) {
    if (codec.isOpen()) {
      in(call);
    }
  }

  /**
   * Makes an object of a codec with these keys, which may no longer be the present ones.
   *
   * @return what {@code body} returns
   */
  public long with(Call call, Ring keys, ObjectFunction<Long> body) {
    if (keys == ring && codec.isOpen()) {
      long present = in(call);
      if (rings[call.pooled().index] == keys) {
        return body.apply(call, present);
      }
    }
    long former = make(call, keys);
    try {
      return body.apply(call, former);
    } finally {
      call.plain(Function.CODEC_FREE, former);
    }
  }

  /** Replaces the keys; returns whether they are others than before. If it throws, they are not. */
  public boolean setKeys(Ring next) {
    changing.lock();
    try {
      boolean changed =
          codec.call(
              (x, address) -> {
                if (!set(x, in(x), next)) {
                  return false;
                }
                rings[x.pooled().index] = next;
                // From here on they are the keys of all pooled instances: where they fail to be set
                // now, they
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

  private static boolean set(Call call, long present, Ring next) {
    return next.with(
        call,
        (x, keys) -> {
          long changed = x.room(1);
          x.call(Function.CODEC_SET_KEYS, present, keys, changed);
          return x.readBoolean(changed);
        });
  }

  private long makeCurrent(Call call) {
    Ring present = ring;
    long made = make(call, present);
    rings[call.pooled().index] = present;
    return made;
  }

  private long make(Call call, Ring keys) {
    return keys.with(
        call,
        (x, ringAddress) -> {
          long place = x.room(x.pointerSize());
          long limit =
              x.struct(3 * x.pointerSize())
                  .word(x.number(limits.payload))
                  .word(x.number(limits.clockTolerance))
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
