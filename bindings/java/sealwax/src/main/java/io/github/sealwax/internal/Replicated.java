package io.github.sealwax.internal;

import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * An object of the ABI in every pooled instance that needs it: made there when it is first used,
 * and again after a fault. It is freed when it is closed or collected.
 */
public final class Replicated implements AutoCloseable {
  private final Library library;
  private final ToLongFunction<Call> maker;
  private final Copies copies;
  private final Cleaner.Cleanable cleanable;

  /**
   * Makes nothing yet.
   *
   * @param maker makes the object in a pooled instance, and returns its address
   * @param free the function that frees it
   */
  public Replicated(Library library, ToLongFunction<Call> maker, Function free) {
    this.library = library;
    this.maker = maker;
    copies = new Copies(library, free);
    cleanable = Library.CLEANER.register(this, copies);
  }

  /** What outlives the object, to free its copies. */
  private static final class Copies implements Runnable, PooledInstance.Closed {
    final Library library;
    final Function free;

    /** The copies. An element belongs to the thread that holds its pooled instance's lock. */
    final long[] addresses;

    /** The generations of their instances. */
    final int[] generations;

    /** A bit for each pooled instance that may have one. */
    final AtomicLong pool = new AtomicLong();

    /** The pooled instance of the last use, which has a copy, and is likely to be free. */
    volatile int last;

    volatile boolean closed;

    Copies(Library library, Function free) {
      this.library = library;
      this.free = free;
      addresses = new long[library.size()];
      generations = new int[library.size()];
    }

    boolean isIn(PooledInstance pooled) {
      int index = pooled.index;
      return addresses[index] != 0 && generations[index] == pooled.generation();
    }

    @Override
    public void run() {
      closed = true;
      for (long left = pool.get(); left != 0; left &= left - 1) {
        library.pooled(Long.numberOfTrailingZeros(left)).later(this);
      }
    }

    @Override
    public boolean freeIn(Call call) {
      PooledInstance pooled = call.pooled();
      boolean sound = !isIn(pooled) || call.free(free, addresses[pooled.index]);
      addresses[pooled.index] = 0;
      return sound;
    }
  }

  /** Returns its address in the call's pooled instance; makes it there if need be. */
  public long in(Call call) {
    Copies found = copies;
    PooledInstance pooled = call.pooled();
    int index = pooled.index;
    if (!found.isIn(pooled)) {
      // Before the test: whoever closes it sets `closed` first, and looks for pooled instances
      // then.
      found.pool.accumulateAndGet(1L << index, (bits, bit) -> bits | bit);
      expectOpen();
      found.addresses[index] = maker.applyAsLong(call);
      found.generations[index] = pooled.generation();
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

  /** Runs {@code body} with it, best in the pooled instance where it was used last. */
  public <T extends @Nullable Object> T call(ObjectFunction<T> body) {
    return library.call(copies.last, x -> body.apply(x, in(x)));
  }

  /** Runs {@code body} in each pooled instance that has it, also if it fails in some of them. */
  public void crossAll(ObjectFunction<?> body) {
    for (long left = copies.pool.get(); left != 0; left &= left - 1) {
      int index = Long.numberOfTrailingZeros(left);
      try {
        library.callIn(
            index, x -> copies.isIn(x.pooled()) ? body.apply(x, copies.addresses[index]) : null);
      } catch (RuntimeException | Error e) {
        // The next use of that pooled instance finds it as it is.
      }
    }
  }

  /** Frees it: in each pooled instance now, or at the pooled instance's next call. */
  @Override
  public void close() {
    cleanable.clean();
  }
}
