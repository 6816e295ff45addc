package io.github.sealwax.internal;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** An instance, made when it is first needed, and the lock for one call at a time. */
final class PooledInstance {
  /** Not a monitor: a virtual thread that waits for it releases its carrier. */
  final ReentrantLock lock = new ReentrantLock();

  final int index;
  private final InstanceProvider provider;
  private final ConcurrentLinkedQueue<Closed> closed = new ConcurrentLinkedQueue<>();
  private @Nullable Call call;
  private int generation;

  /** Something that has objects to free in this pooled instance. */
  interface Closed {
    /** Frees them; returns whether the instance is still sound. */
    boolean freeIn(Call call);
  }

  PooledInstance(int index, InstanceProvider provider) {
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

  /** Begins a call; the caller holds the lock. */
  Call begin() {
    Call begun = call;
    if (begun != null && !closed.isEmpty()) {
      begun = free(begun);
    }
    if (begun == null) {
      begun = call = new Call(this, provider.instantiate());
    }
    return begun;
  }

  /** Ends a call; the caller holds the lock. */
  void end(Call ending) {
    if (!ending.end()) {
      discard();
    }
  }

  /**
   * Frees objects at the pooled instance's next call, or now if no thread is in it. Never waits.
   */
  void later(Closed objects) {
    closed.add(objects);
    if (!lock.isHeldByCurrentThread() && lock.tryLock()) {
      try {
        if (call != null) {
          free(call);
        }
      } finally {
        lock.unlock();
      }
    }
  }

  private @Nullable Call free(Call idle) {
    for (Closed next = closed.poll(); next != null; next = closed.poll()) {
      if (!next.freeIn(idle)) {
        discard();
        break;
      }
    }
    return call;
  }

  /** Drops a broken instance, with all that lives in it. */
  private void discard() {
    if (call != null) {
      call.drop();
    }
    call = null;
    generation++;
  }
}
