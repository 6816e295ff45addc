package io.github.sealwax.internal;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * An object of the ABI in every shard that needs it: made there when it is first used, and again
 * after a fault. It is freed when it is closed or collected.
 */
public final class Replicated implements AutoCloseable {
  private final Library library;
  private final ToLongFunction<Crossing> maker;
  private final Copies copies;
  private final Cleaner.Cleanable cleanable;

  /**
   * Makes nothing yet.
   *
   * @param maker makes the object in a shard, and returns its address
   * @param free the function that frees it
   */
  public Replicated(Library library, ToLongFunction<Crossing> maker, Function free) {
    this.library = library;
    this.maker = maker;
    copies = new Copies(library, free);
    cleanable = Library.CLEANER.register(this, copies);
  }

  /** What outlives the object, to free its copies. */
  private static final class Copies implements Runnable, Shard.Closed {
    final Library library;
    final Function free;

    /** The copies. An element belongs to the thread that holds its shard's lock. */
    final long[] addresses;

    /** The generations of their instances. */
    final int[] generations;

    /** A bit for each shard that may have one. */
    final AtomicLong shards = new AtomicLong();

    /** The shard of the last use, which has a copy, and is likely to be free. */
    volatile int last;

    volatile boolean closed;

    Copies(Library library, Function free) {
      this.library = library;
      this.free = free;
      addresses = new long[library.size()];
      generations = new int[library.size()];
    }

    boolean isIn(Shard shard) {
      int index = shard.index;
      return addresses[index] != 0 && generations[index] == shard.generation();
    }

    @Override
    public void run() {
      closed = true;
      for (long left = shards.get(); left != 0; left &= left - 1) {
        library.shard(Long.numberOfTrailingZeros(left)).later(this);
      }
    }

    @Override
    public boolean freeIn(Crossing crossing) {
      Shard shard = crossing.shard();
      boolean sound = !isIn(shard) || crossing.free(free, addresses[shard.index]);
      addresses[shard.index] = 0;
      return sound;
    }
  }

  /** Returns its address in the crossing's shard; makes it there if need be. */
  public long in(Crossing crossing) {
    Copies found = copies;
    Shard shard = crossing.shard();
    int index = shard.index;
    if (!found.isIn(shard)) {
      // Before the test: whoever closes it sets `closed` first, and looks for shards then.
      found.shards.accumulateAndGet(1L << index, (bits, bit) -> bits | bit);
      expectOpen();
      found.addresses[index] = maker.applyAsLong(crossing);
      found.generations[index] = shard.generation();
    } else {
      expectOpen();
    }
    if (found.last != index) {
      found.last = index;
    }
    return found.addresses[index];
  }

  /** Returns whether it was not closed. */
  boolean isOpen() {
    return !copies.closed;
  }

  void expectOpen() {
    if (!isOpen()) {
      throw new IllegalStateException("expected an open object, found one that was closed");
    }
  }

  /** Runs {@code body} with it, best in the shard where it was used last. */
  public <T extends @Nullable Object> T cross(ObjectFunction<T> body) {
    return library.cross(copies.last, x -> body.apply(x, in(x)));
  }

  /** Runs {@code body} in each shard that has it, also if it fails in some of them. */
  public void crossAll(ObjectFunction<?> body) {
    for (long left = copies.shards.get(); left != 0; left &= left - 1) {
      int index = Long.numberOfTrailingZeros(left);
      try {
        library.crossIn(
            index, x -> copies.isIn(x.shard()) ? body.apply(x, copies.addresses[index]) : null);
      } catch (RuntimeException | Error e) {
        // The next use of that shard finds it as it is.
      }
    }
  }

  /** Frees it: in each shard now, or at the shard's next crossing. */
  @Override
  public void close() {
    cleanable.clean();
  }
}
