package io.github.sealwax.internal;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** An instance, made when it is first needed, and the lock for one crossing at a time. */
final class Shard {
  /** Not a monitor: a virtual thread that waits for it releases its carrier. */
  final ReentrantLock lock = new ReentrantLock();

  final int index;
  private final InstanceProvider provider;
  private final ConcurrentLinkedQueue<Closed> closed = new ConcurrentLinkedQueue<>();
  private @Nullable Crossing crossing;
  private int generation;

  /** Something that has objects to free in this shard. */
  interface Closed {
    /** Frees them; returns whether the instance is still sound. */
    boolean freeIn(Crossing crossing);
  }

  Shard(int index, InstanceProvider provider) {
    this.index = index;
    this.provider = provider;
  }

  /**
   * Returns the number of the present instance: what was made in another is gone. The caller holds
   * the lock.
   */
  int generation() {
    return generation;
  }

  /** Begins a crossing; the caller holds the lock. */
  Crossing begin() {
    Crossing begun = crossing;
    if (begun != null && !closed.isEmpty()) {
      begun = free(begun);
    }
    if (begun == null) {
      begun = crossing = new Crossing(this, provider.instantiate());
    }
    return begun;
  }

  /** Ends a crossing; the caller holds the lock. */
  void end(Crossing ending) {
    if (!ending.end()) {
      discard();
    }
  }

  /** Frees objects at the shard's next crossing, or now if no thread is in it. Never waits. */
  void later(Closed objects) {
    closed.add(objects);
    if (!lock.isHeldByCurrentThread() && lock.tryLock()) {
      try {
        if (crossing != null) {
          free(crossing);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private @Nullable Crossing free(Crossing idle) {
    for (Closed next = closed.poll(); next != null; next = closed.poll()) {
      if (!next.freeIn(idle)) {
        discard();
        break;
      }
    }
    return crossing;
  }

  /** Drops a broken instance, with all that lives in it. */
  private void discard() {
    if (crossing != null) {
      crossing.drop();
    }
    crossing = null;
    generation++;
  }
}
