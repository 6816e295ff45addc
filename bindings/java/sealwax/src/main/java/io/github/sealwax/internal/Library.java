package io.github.sealwax.internal;

import io.github.sealwax.InternalErrorException;
import io.github.sealwax.internal.portable.PortableProvider;
import java.lang.ref.Cleaner;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The functions of the ABI for any number of threads: as many pooled instances as processors. */
public final class Library {
  /** The ABI that this was written for: SEALWAX_ABI_VERSION. */
  private static final int ABI = 1;

  /** An object keeps the numbers of its pooled instances as bits. */
  private static final int MOST_INSTANCES = Long.SIZE;

  static final Cleaner CLEANER = Cleaner.create();

  private final PooledInstance[] pool;

  /**
   * The number of pooled instances that were ever used. A thread takes another only if all of these
   * are busy.
   */
  private volatile int begun = 1;

  private Library(InstanceProvider provider, int count) {
    pool = new PooledInstance[Math.min(count, MOST_INSTANCES)];
    for (int index = 0; index < pool.length; index++) {
      pool[index] = new PooledInstance(index, provider);
    }
  }

  private static final class Shared {
    static final Library LIBRARY = load();

    private static Library load() {
      InstanceProvider provider =
          ServiceLoader.load(InstanceProvider.class, Library.class.getClassLoader())
              .findFirst()
              .orElseGet(PortableProvider::new);
      // Loaded later, on the small stack of some thread, this class could fail for good.
      Failures.of(0, "");
      Library library = new Library(provider, Runtime.getRuntime().availableProcessors());
      int abi = library.call(x -> (int) x.plain(Function.ABI_VERSION));
      if (abi != ABI) {
        throw new InternalErrorException(
            "expected a library of ABI " + ABI + ", found " + abi, null);
      }
      return library;
    }
  }

  /** Returns the library of this process. */
  public static Library shared() {
    return Shared.LIBRARY;
  }

  /** Returns another library, with instances of its own. For tests. */
  public static Library of(InstanceProvider provider, int pool) {
    return new Library(provider, pool);
  }

  int size() {
    return pool.length;
  }

  PooledInstance pooled(int index) {
    return pool[index];
  }

  /** Runs {@code body} in any pooled instance. It must not call again, nor wait. */
  public <T extends @Nullable Object> T call(java.util.function.Function<Call, T> body) {
    return call(0, body);
  }

  /** Runs {@code body} in the pooled instance {@code first} if it is free, else in any. */
  <T extends @Nullable Object> T call(int first, java.util.function.Function<Call, T> body) {
    PooledInstance pooled = take(first);
    return run(pooled, body);
  }

  /** Runs {@code body} in this pooled instance. */
  <T extends @Nullable Object> T callIn(int index, java.util.function.Function<Call, T> body) {
    PooledInstance pooled = pool[index];
    pooled.lock.lock();
    return run(pooled, body);
  }

  private PooledInstance take(int first) {
    if (pool[first].lock.tryLock()) {
      return pool[first];
    }
    int known = begun;
    for (int index = 0; index < known; index++) {
      if (pool[index].lock.tryLock()) {
        return pool[index];
      }
    }
    if (known < pool.length && pool[known].lock.tryLock()) {
      // Two threads may take the same step: the next one makes up for it.
      begun = known + 1;
      return pool[known];
    }
    // All are busy: waiting threads are spread over them.
    int waits = Math.floorMod(System.identityHashCode(Thread.currentThread()), pool.length);
    pool[waits].lock.lock();
    return pool[waits];
  }

  private static <T extends @Nullable Object> T run(
      PooledInstance pooled, java.util.function.Function<Call, T> body) {
    try {
      Call call = pooled.begin();
      try {
        return body.apply(call);
      } finally {
        pooled.end(call);
      }
    } finally {
      pooled.lock.unlock();
    }
  }
}
