package io.github.sealwax.internal;

import io.github.sealwax.InternalErrorException;
import java.lang.ref.Cleaner;
import org.jspecify.annotations.Nullable;

/**
 * An object of the ABI in exactly one pooled instance, such as a {@link Machine} or a session. A
 * fault in that pooled instance loses it. It is freed when it is closed or collected.
 */
public sealed class Pinned implements AutoCloseable permits Machine {
  final Library library;
  private final Place place;
  private final Cleaner.Cleanable cleanable;

  /**
   * Takes over an object that was made in this call.
   *
   * @param free the function that frees it
   */
  public Pinned(Library library, Call call, long address, Function free) {
    this.library = library;
    PooledInstance pooled = call.pooled();
    place = new Place(pooled, pooled.generation(), address, free);
    cleanable = Library.CLEANER.register(this, place);
  }

  /** What outlives the object, to free it. */
  private static final class Place implements Runnable, PooledInstance.Closed {
    final PooledInstance pooled;
    final int generation;
    final long address;
    final Function free;
    volatile boolean closed;

    Place(PooledInstance pooled, int generation, long address, Function free) {
      this.pooled = pooled;
      this.generation = generation;
      this.address = address;
      this.free = free;
    }

    @Override
    public void run() {
      closed = true;
      pooled.later(this);
    }

    @Override
    public boolean freeIn(Call call) {
      return pooled.generation() != generation || call.free(free, address);
    }
  }

  /**
   * Runs {@code body} with it, in its pooled instance.
   *
   * @throws InternalErrorException if a fault in that pooled instance has ended it
   */
  public <T extends @Nullable Object> T call(ObjectFunction<T> body) {
    return library.callIn(
        place.pooled.index,
        x -> {
          if (place.closed) {
            throw new IllegalStateException("expected an open object, found one that was closed");
          }
          if (place.generation != place.pooled.generation()) {
            throw new InternalErrorException("an earlier fault ended it", null);
          }
          return body.apply(x, place.address);
        });
  }

  /** Frees it, now or at its pooled instance's next call. */
  @Override
  public void close() {
    cleanable.clean();
  }
}
