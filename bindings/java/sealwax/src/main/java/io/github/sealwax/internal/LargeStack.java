package io.github.sealwax.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;

/**
 * A stack for deep documents. The module reads 127 levels, for which its code takes up to 240 kB of
 * the thread's stack; an overflow within it would end the instance, and all exchanges in it.
 */
final class LargeStack {
  /** A document of fewer brackets is not deep. */
  private static final int BRACKETS = 64;

  private static final int SIZE = 1 << 20;

  /** So many calls of {@link #descend} take 288 kB and more: a frame has at least 96 bytes. */
  private static final int FRAMES = 3072;

  private LargeStack() {}

  /** Returns whether a document may be deep. */
  static boolean mayNeed(byte[] document) {
    int brackets = 0;
    for (byte each : document) {
      if (each == '[' || each == '{') {
        brackets++;
      }
    }
    return brackets >= BRACKETS;
  }

  /** Runs {@code call} on this thread if there is room, else on another one; waits for it. */
  static <T> T run(Supplier<T> call) {
    if (hasRoom()) {
      return call.get();
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                result.complete(call.get());
              } catch (RuntimeException | Error fault) {
                result.completeExceptionally(fault);
              }
            },
            "sealwax-deep",
            SIZE);
    thread.setDaemon(true);
    thread.start();
    try {
      // Does not end early if this thread is interrupted.
      return result.join();
    } catch (CompletionException failed) {
      if (failed.getCause() instanceof Error error) {
        throw error;
      }
      throw failed.getCause() instanceof RuntimeException exception ? exception : failed;
    }
  }

  private static boolean hasRoom() {
    try {
      return descend(FRAMES, 1, 2, 3, 4, 5, 6) != 0;
    } catch (StackOverflowError small) {
      return false;
    }
  }

  /** Keeps its parameters until it returns: its frame holds them all. */
  private static long descend(int left, long a, long b, long c, long d, long e, long f) {
    return left == 0
        ? a | 1
        : descend(left - 1, b, c, d, e, f, a + left) + a + b + c + d + e + f | 1;
  }
}
