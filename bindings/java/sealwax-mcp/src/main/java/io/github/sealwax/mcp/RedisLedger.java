package io.github.sealwax.mcp;

import io.github.sealwax.mcp.internal.Failures;
import io.github.sealwax.mcp.internal.Step;
import io.github.sealwax.mcp.internal.ledger.RedisConnection;
import io.github.sealwax.mcp.internal.ledger.RedisConnections;
import io.github.sealwax.mcp.internal.ledger.RedisServers;
import io.github.sealwax.mcp.internal.ledger.Store;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A ledger in Redis 6.2 or later, or Valkey, by Lettuce: for a fleet.
 *
 * <p>It has connections of its own, which do not connect again by themselves, so that no command is
 * sent twice or late. The first command, and each after a failure, checks the server, because
 * another one may answer then: one that would lose records is refused. To connect and to check may
 * take longer than a command; it goes on, and a later command finds it done. A command takes one
 * round trip; ending something, and {@link Guard#revoke}, take a second one where there are
 * replicas, for one of them to confirm it.
 */
@SuppressWarnings("exports") // Its users require Lettuce themselves.
public final class RedisLedger implements Ledger, AutoCloseable {
  private static final Logger LOGGER = LoggerFactory.getLogger("sealwax.ledger");

  private static final Duration CONNECTING = Duration.ofSeconds(10);

  private final RedisServers servers;
  private final Store store = new Store();

  /** In a Cluster, guards of several audiences or labels may be at several servers. */
  private final Map<Integer, RedisConnections> bySlot = new ConcurrentHashMap<>();

  /** How scripts are sent whose commands need no store machine. */
  private final Map<String, Step> plain = new ConcurrentHashMap<>();

  /** What the settings of a server may lose, by slot too. */
  private final Map<Integer, List<String>> warned = new ConcurrentHashMap<>();

  /**
   * Makes one; it connects when it is used.
   *
   * @param url such as {@code redis://ledger.example.com}, as Lettuce reads it
   */
  public RedisLedger(String url) {
    this(RedisURI.create(url), ClientOptions.create());
  }

  /**
   * Makes one; it connects when it is used.
   *
   * @param uri where the server is
   * @param options for TLS and sockets; the ledger sets whether a connection connects again
   */
  public RedisLedger(RedisURI uri, ClientOptions options) {
    this(RedisServers.one(uri, options));
  }

  private RedisLedger(RedisServers servers) {
    this.servers = servers;
  }

  /**
   * Makes one in a Cluster; it connects when it is used.
   *
   * @param seed one of its servers
   * @param options for TLS and sockets; the ledger sets whether a connection connects again
   * @return the ledger
   */
  public static RedisLedger ofCluster(RedisURI seed, ClusterClientOptions options) {
    return new RedisLedger(RedisServers.cluster(seed, options));
  }

  private RedisConnections connections(String key) {
    return bySlot.computeIfAbsent(
        servers.slot(key),
        slot -> new RedisConnections(servers, connection -> check(slot, connection), CONNECTING));
  }

  /**
   * Checks the server, or all of a Cluster that have slots, on connections that it closes: for a
   * start that fails if the ledger cannot serve. The first command checks its own server too.
   *
   * @return warnings for the operator: what the server's settings may lose. It fails with a {@link
   *     LedgerException} for a server that would lose records
   */
  public CompletionStage<List<String>> check() {
    Collection<String> unfit = new ConcurrentLinkedQueue<>();
    return servers
        .keys()
        .orTimeout(CONNECTING.toMillis(), TimeUnit.MILLISECONDS)
        .thenCompose(
            keys ->
                CompletableFuture.allOf(
                    keys.stream()
                        .map(key -> judged(key, unfit))
                        .toArray(CompletableFuture<?>[]::new)))
        .thenApply(
            all -> {
              if (!unfit.isEmpty()) {
                throw new LedgerException(String.join("; ", unfit));
              }
              return warnings();
            });
  }

  /** Checks the server of a key; why it cannot serve is added. */
  private CompletableFuture<Void> judged(String key, Collection<String> unfit) {
    return connections(key)
        .connect(key)
        .thenAccept(RedisConnection::close)
        .exceptionally(
            failure -> {
              if (Failures.cause(failure) instanceof LedgerException refused) {
                unfit.add(refused.getMessage());
                return null;
              }
              throw new CompletionException(failure);
            });
  }

  /**
   * Returns what the server's settings may lose, once it was checked.
   *
   * @return warnings for the operator
   */
  public List<String> warnings() {
    return warned.values().stream().flatMap(List::stream).distinct().toList();
  }

  @Override
  public CompletionStage<List<String>> run(Command command) {
    long began = System.nanoTime();
    long within = command.within().toNanos();
    String key = command.keys().get(0);
    RedisConnections connections = connections(key);
    return connections
        .shared(key)
        .thenCompose(
            connection -> {
              long connecting = System.nanoTime() - began;
              if (2 * connecting > within) {
                // An answer takes as long, and would come too late: the engine repeats the command.
                return CompletableFuture.failedFuture(new TimeoutException());
              }
              return connections.guarding(
                  connection, run(connection, command), Duration.ofNanos(within - connecting));
            });
  }

  private CompletableFuture<List<String>> run(RedisConnection connection, Command command) {
    Step known = plain.get(command.script());
    if (known == null) {
      return talked(connection, command, null);
    }
    List<String> send = new ArrayList<>(known.list("send"));
    send.add(Integer.toString(command.keys().size()));
    send.addAll(command.keys());
    send.addAll(command.args());
    List<String> passes = known.list("passes");
    return connection
        .send(send)
        .thenCompose(
            answer ->
                answer.equals(Map.of("texts", passes))
                    ? CompletableFuture.completedFuture(passes)
                    : talked(connection, command, answer));
  }

  private CompletableFuture<List<String>> talked(
      RedisConnection connection, Command command, @Nullable Map<String, Object> first) {
    String key = command.keys().get(0);
    Function<Store.Talk, CompletableFuture<Step>> alone =
        talk -> connections(key).withOwn(key, talk::on, command.within());
    return store
        .begin(command.document())
        .on(connection, first, alone)
        .thenApply(
            done -> {
              if (done.has("plain")) {
                plain.put(command.script(), new Step(done.object("plain")));
              } else {
                plain.clear();
              }
              return done.list("done");
            });
  }

  /** Checks the server of a new connection. */
  private CompletableFuture<RedisConnection> check(int slot, RedisConnection connection) {
    return store
        .begin(Map.of())
        .on(connection)
        .thenCompose(
            step -> {
              warn(slot, step.list("warned"));
              CompletableFuture<?>[] loads =
                  step.list("load").stream()
                      .map(load -> ((List<?>) load).stream().map(String::valueOf).toList())
                      .map(connection::send)
                      .toArray(CompletableFuture<?>[]::new);
              return CompletableFuture.allOf(loads).thenApply(all -> connection);
            });
  }

  private void warn(int slot, List<String> found) {
    List<String> known = warnings();
    for (String warning : found) {
      if (!known.contains(warning)) {
        LOGGER.warn("sealwax: ledger: {}", warning);
      }
    }
    warned.put(slot, List.copyOf(found));
  }

  /** Closes its connections. */
  @Override
  public void close() {
    bySlot.values().forEach(RedisConnections::close);
    servers.close();
    store.close();
  }
}
