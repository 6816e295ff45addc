package io.github.sealwax.internal;

import io.github.sealwax.InternalErrorException;
import io.github.sealwax.internal.portable.PortableProvider;
import java.lang.ref.Cleaner;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The functions of the ABI for any number of threads: as many shards as processors. */
public final class Library {
  /** The ABI that this was written for: SEALWAX_ABI_VERSION. */
  private static final int ABI = 1;

  /** An object keeps the numbers of its shards as bits. */
  private static final int MOST_SHARDS = Long.SIZE;

  static final Cleaner CLEANER = Cleaner.create();

  private final Shard[] shards;

  /**
   * The number of shards that were ever used. A thread takes another only if all of these are busy.
   */
  private volatile int begun = 1;

  private Library(InstanceProvider provider, int count) {
    shards = new Shard[Math.min(count, MOST_SHARDS)];
    for (int index = 0; index < shards.length; index++) {
      shards[index] = new Shard(index, provider);
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
      int abi = library.cross(x -> (int) x.plain(Function.ABI_VERSION));
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
  public static Library of(InstanceProvider provider, int shards) {
    return new Library(provider, shards);
  }

  int size() {
    return shards.length;
  }

  Shard shard(int index) {
    return shards[index];
  }

  /** Runs {@code body} in any shard. It must not cross again, nor wait. */
  public <T extends @Nullable Object> T cross(java.util.function.Function<Crossing, T> body) {
    return cross(0, body);
  }

  /** Runs {@code body} in the shard {@code first} if it is free, else in any. */
  <T extends @Nullable Object> T cross(int first, java.util.function.Function<Crossing, T> body) {
    Shard shard = take(first);
    return run(shard, body);
  }

  /** Runs {@code body} in this shard. */
  <T extends @Nullable Object> T crossIn(int index, java.util.function.Function<Crossing, T> body) {
    Shard shard = shards[index];
    shard.lock.lock();
    return run(shard, body);
  }

  private Shard take(int first) {
    if (shards[first].lock.tryLock()) {
      return shards[first];
    }
    int known = begun;
    for (int index = 0; index < known; index++) {
      if (shards[index].lock.tryLock()) {
        return shards[index];
      }
    }
    if (known < shards.length && shards[known].lock.tryLock()) {
      // Two threads may take the same step: the next one makes up for it.
      begun = known + 1;
      return shards[known];
    }
    // All are busy: waiting threads are spread over them.
    int waits = Math.floorMod(System.identityHashCode(Thread.currentThread()), shards.length);
    shards[waits].lock.lock();
    return shards[waits];
  }

  private static <T extends @Nullable Object> T run(
      Shard shard, java.util.function.Function<Crossing, T> body) {
    try {
      Crossing crossing = shard.begin();
      try {
        return body.apply(crossing);
      } finally {
        shard.end(crossing);
      }
    } finally {
      shard.lock.unlock();
    }
  }
}
