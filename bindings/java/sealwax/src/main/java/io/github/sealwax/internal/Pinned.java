package io.github.sealwax.internal;

import io.github.sealwax.InternalErrorException;
import java.lang.ref.Cleaner;
import org.jspecify.annotations.Nullable;

/**
 * An object of the ABI in exactly one shard, such as a {@link Machine} or a session. A fault in
 * that shard loses it. It is freed when it is closed or collected.
 */
public sealed class Pinned implements AutoCloseable permits Machine {
  final Library library;
  private final Place place;
  private final Cleaner.Cleanable cleanable;

  /**
   * Takes over an object that was made in this crossing.
   *
   * @param free the function that frees it
   */
  public Pinned(Library library, Crossing crossing, long address, Function free) {
    this.library = library;
    Shard shard = crossing.shard();
    place = new Place(shard, shard.generation(), address, free);
    cleanable = Library.CLEANER.register(this, place);
  }

  /** What outlives the object, to free it. */
  private static final class Place implements Runnable, Shard.Closed {
    final Shard shard;
    final int generation;
    final long address;
    final Function free;
    volatile boolean closed;

    Place(Shard shard, int generation, long address, Function free) {
      this.shard = shard;
      this.generation = generation;
      this.address = address;
      this.free = free;
    }

    @Override
    public void run() {
      closed = true;
      shard.later(this);
    }

    @Override
    public boolean freeIn(Crossing crossing) {
      return shard.generation() != generation || crossing.free(free, address);
    }
  }

  /**
   * Runs {@code body} with it, in its shard.
   *
   * @throws InternalErrorException if a fault in that shard has ended it
   */
  public <T extends @Nullable Object> T cross(ObjectFunction<T> body) {
    return library.crossIn(
        place.shard.index,
        x -> {
          if (place.closed) {
            throw new IllegalStateException("expected an open object, found one that was closed");
          }
          if (place.generation != place.shard.generation()) {
            throw new InternalErrorException("an earlier fault ended it", null);
          }
          return body.apply(x, place.address);
        });
  }

  /** Frees it, now or at its shard's next crossing. */
  @Override
  public void close() {
    cleanable.clean();
  }
}
