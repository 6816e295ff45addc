package io.github.sealwax.internal;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Chooses pooled instances, which only its package can. */
public final class Shards {
  private Shards() {}

  /** Runs {@code body} while one pooled instance is busy. */
  public static <T> T without(Library library, int index, Supplier<T> body) {
    return library.callIn(index, x -> CompletableFuture.supplyAsync(body).join());
  }
}
