package io.github.sealwax.mcp.internal.ledger;

import io.github.sealwax.mcp.internal.Failures;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Checked connections to one server: one that all commands share, and those that a command has for
 * itself, because {@code WAIT} covers what its own connection wrote. After a failure all are made
 * anew: another server may answer then.
 */
public final class RedisConnections implements AutoCloseable {
  private final RedisServers servers;
  private final Function<RedisConnection, CompletableFuture<RedisConnection>> check;
  private final Duration connecting;
  private Generation present = new Generation();

  /** The connections since the last failure. */
  private static final class Generation {
    @Nullable CompletableFuture<RedisConnection> shared;
    final ConcurrentLinkedQueue<RedisConnection> own = new ConcurrentLinkedQueue<>();
  }

  /** {@code connecting} is the time limit to connect and to check a server. */
  public RedisConnections(
      RedisServers servers,
      Function<RedisConnection, CompletableFuture<RedisConnection>> check,
      Duration connecting) {
    this.servers = servers;
    this.check = check;
    this.connecting = connecting;
  }

  /** Returns the connection that all share, made and checked if need be, to the server of a key. */
  public synchronized CompletableFuture<RedisConnection> shared(String key) {
    if (present.shared != null && isBroken(present.shared)) {
      drop();
    }
    if (present.shared == null) {
      present.shared = connect(key);
    }
    return present.shared;
  }

  private static boolean isBroken(CompletableFuture<RedisConnection> shared) {
    return shared.isCompletedExceptionally() || (shared.isDone() && !shared.join().isOpen());
  }

  /** Makes a connection that nobody shares. */
  public CompletableFuture<RedisConnection> connect(String key) {
    CompletableFuture<RedisConnection> connected = servers.connect(key);
    return connected
        .thenCompose(check)
        .orTimeout(connecting.toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete(
            (checked, failure) -> {
              if (failure != null) {
                // Also one that comes late.
                var unused = connected.thenAccept(RedisConnection::close);
              }
            });
  }

  /** Gives work a connection of its own, and keeps that for the next. */
  public <T> CompletableFuture<T> withOwn(
      String key, Function<RedisConnection, CompletableFuture<T>> work, Duration within) {
    Generation generation;
    synchronized (this) {
      generation = present;
    }
    RedisConnection idle = idle(generation);
    CompletableFuture<RedisConnection> taken =
        idle != null
            ? CompletableFuture.completedFuture(idle)
            : connectWithin(key, within.dividedBy(2), generation);
    return taken.thenCompose(
        own ->
            work.apply(own)
                .orTimeout(within.toMillis(), TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> release(generation, own, failure != null)));
  }

  /** Takes an idle connection, and closes those before it that broke; null if there is none. */
  private static @Nullable RedisConnection idle(Generation generation) {
    RedisConnection idle = generation.own.poll();
    while (idle != null && !idle.isOpen()) {
      idle.close();
      idle = generation.own.poll();
    }
    return idle;
  }

  /** Fails if it takes longer; then it goes on, and a later command finds the connection. */
  private CompletableFuture<RedisConnection> connectWithin(
      String key, Duration within, Generation generation) {
    CompletableFuture<RedisConnection> taken = new CompletableFuture<>();
    var unused =
        connect(key)
            .whenComplete(
                (made, failure) -> {
                  if (failure != null) {
                    taken.completeExceptionally(failure);
                  } else if (!taken.complete(made)) {
                    release(generation, made, false);
                  }
                });
    CompletableFuture.delayedExecutor(within.toNanos(), TimeUnit.NANOSECONDS)
        .execute(() -> taken.completeExceptionally(new StillConnecting()));
    return taken;
  }

  /** No connection failed. */
  private static final class StillConnecting extends TimeoutException {
    private static final long serialVersionUID = 1;
  }

  private synchronized void release(Generation generation, RedisConnection own, boolean isBroken) {
    if (isBroken || generation != present) {
      own.close();
    } else {
      generation.own.add(own);
    }
  }

  /** Returns what work gives in time; makes the connections anew if it fails. */
  public <T> CompletableFuture<T> guarding(
      RedisConnection connection, CompletableFuture<T> work, Duration within) {
    return work.orTimeout(within.toNanos(), TimeUnit.NANOSECONDS)
        .whenComplete(
            (done, failure) -> {
              if (failure != null && !(Failures.cause(failure) instanceof StillConnecting)) {
                renew(connection);
              }
            });
  }

  private synchronized void renew(RedisConnection failed) {
    CompletableFuture<RedisConnection> shared = present.shared;
    if (shared != null
        && shared.isDone()
        && !shared.isCompletedExceptionally()
        && shared.join().equals(failed)) {
      drop();
    }
    failed.close();
  }

  /** Forgets all connections. A late reply is read by nobody. */
  private void drop() {
    present.own.forEach(RedisConnection::close);
    if (present.shared != null) {
      // Lettuce keeps a connection that the server closed, until it is closed here too.
      var unused = present.shared.thenAccept(RedisConnection::close);
    }
    present = new Generation();
  }

  @Override
  public synchronized void close() {
    drop();
  }
}
