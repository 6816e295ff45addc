package io.github.sealwax.internal;

import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** Chooses shards, which only its package can. */
public final class Shards {
  private Shards() {}

  /** Runs {@code body} while one shard is busy. */
  public static <T> T without(Library library, int index, Supplier<T> body) {
    return library.crossIn(index, x -> CompletableFuture.supplyAsync(body).join());
  }
}
