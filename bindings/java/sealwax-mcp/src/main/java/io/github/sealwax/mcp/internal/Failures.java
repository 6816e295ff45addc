package io.github.sealwax.mcp.internal;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What an author's function or a store failed with. */
public final class Failures {
  private Failures() {}

  /** Waits for what an author's function gives, and no longer than it may take. */
  public static <T> T awaited(CompletionStage<T> stage, Duration within)
      throws ExecutionException, TimeoutException {
    try {
      return stage.toCompletableFuture().get(within.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ExecutionException(e);
    }
  }

  /**
   * Names a failure for the log, and what caused it: their messages are not, because they may hold
   * a credential.
   */
  public static String named(Throwable failure) {
    Throwable first = cause(failure);
    Throwable last = first;
    // There may be circles.
    for (int depth = 0; depth < 16 && last.getCause() != null; depth++) {
      last = last.getCause();
    }
    String name = first.getClass().getSimpleName();
    return last == first ? name : last.getClass().getSimpleName() + " (" + name + ")";
  }

  public static Throwable cause(Throwable failure) {
    Throwable found = failure;
    while ((found instanceof ExecutionException || found instanceof CompletionException)
        && found.getCause() != null) {
      found = found.getCause();
    }
    return found;
  }
}
