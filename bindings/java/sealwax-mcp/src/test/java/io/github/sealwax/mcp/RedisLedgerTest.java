package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.mcp.internal.Failures;
import io.github.sealwax.mcp.internal.ledger.RedisConnection;
import io.github.sealwax.mcp.internal.ledger.RedisConnections;
import io.github.sealwax.mcp.internal.ledger.RedisServers;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What the ledger by Lettuce does by itself: its connections, and errors. tests/ledger shows what
 * it keeps, on stores that fail.
 */
class RedisLedgerTest {
  /** Most tests are not about time, and the machine may be busy. */
  private static final Duration PATIENT = Duration.ofSeconds(20);

  private static final List<String> PASSED = List.of("ok", "0");

  /** A look at a token of any age. */
  private static Ledger.Command look(String namespace) {
    String now = "" + System.currentTimeMillis() / 1000;
    List<String> keys =
        Stream.of("began", "fence", "p:x", "e:r:x", "e:r:x").map(namespace::concat).toList();
    List<String> args = List.of("a", "5", "1", "live", now, now, "0", "", "", "");
    return new Ledger.Command("admit", keys, args, PATIENT);
  }

  private static List<String> run(Ledger ledger, Ledger.Command command) {
    return ledger.run(command).toCompletableFuture().join();
  }

  private static Throwable failure(Ledger ledger, Ledger.Command command) {
    CompletableFuture<List<String>> reply = ledger.run(command).toCompletableFuture();
    return Failures.cause(assertThrows(CompletionException.class, reply::join));
  }

  private static final Function<RedisConnection, CompletableFuture<RedisConnection>> WORK =
      CompletableFuture::completedFuture;

  /** The connections that are not closed yet, as they came. */
  private final List<StatefulRedisConnection<String, String>> kept = new CopyOnWriteArrayList<>();

  private RedisServers servers;

  /** Until then a connection is still being made. */
  private volatile CompletableFuture<?> ready = CompletableFuture.completedFuture(null);

  @AfterEach
  void close() {
    if (servers != null) {
      servers.close();
    }
  }

  private RedisConnections connections(Valkey store, Duration connecting) {
    RedisClient client = RedisClient.create();
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    servers =
        new RedisServers(
            client,
            key ->
                client
                    .connectAsync(StringCodec.UTF8, RedisURI.create(store.url()))
                    .toCompletableFuture()
                    .thenApply(this::keep)
                    .thenCombine(ready, (connection, then) -> connection));
    return new RedisConnections(servers, CompletableFuture::completedFuture, connecting);
  }

  private RedisConnection keep(StatefulRedisConnection<String, String> connection) {
    kept.add(connection);
    return new RedisConnection(
        connection,
        () -> {
          kept.remove(connection);
          return connection.closeAsync();
        });
  }

  /** Lettuce keeps what the server closed until it is closed here too. */
  @Test
  void aConnectionThatBrokeIsClosed() {
    try (Valkey store = new Valkey();
        RedisConnections connections = connections(store, PATIENT)) {
      RedisConnection shared = connections.shared("a").join();
      RedisConnection own = connections.withOwn("a", WORK, PATIENT).join();
      assertEquals(2, kept.size());
      store.commands().clientKill(io.lettuce.core.KillArgs.Builder.typeNormal().skipme());
      until(() -> !shared.isOpen() && !own.isOpen());
      connections.withOwn("a", WORK, PATIENT).join();
      assertEquals(2, kept.size(), "the connection of its own");
      connections.shared("a").join();
      assertEquals(1, kept.size(), "the shared connection");
    }
  }

  /** As to a store that is far away: to connect takes longer than a command may. */
  @Test
  void aConnectionThatComesTooLateForACommandServesTheNext() {
    try (Valkey store = new Valkey();
        RedisConnections connections = connections(store, PATIENT)) {
      RedisConnection shared = connections.shared("a").join();
      ready = new CompletableFuture<>();
      CompletableFuture<RedisConnection> own =
          connections.withOwn("a", WORK, Duration.ofMillis(20));
      assertThrows(CompletionException.class, connections.guarding(shared, own, PATIENT)::join);
      until(() -> kept.size() == 2);
      StatefulRedisConnection<String, String> late = kept.get(1);
      ready.complete(null);
      until(() -> connections.withOwn("a", WORK, PATIENT).join().connection() == late);
      // What came too late broke no connection that works.
      assertTrue(shared.isOpen());
      assertEquals(shared, connections.shared("a").join());
    }
  }

  /** Its check says why, of each. */
  private static void expectUnfit(RedisLedger ledger, Valkey... stores) {
    for (Valkey store : stores) {
      store.commands().configSet("maxmemory", "100mb");
      store.commands().configSet("maxmemory-policy", "allkeys-lru");
    }
    CompletableFuture<List<String>> checked = ledger.check().toCompletableFuture();
    Throwable failure = Failures.cause(assertThrows(CompletionException.class, checked::join));
    assertInstanceOf(LedgerException.class, failure);
    String[] reasons = ("; " + failure.getMessage()).split("; maxmemory-policy: ");
    assertEquals(stores.length + 1, reasons.length, failure::getMessage);
    for (Valkey store : stores) {
      store.commands().configSet("maxmemory-policy", "noeviction");
    }
  }

  @Test
  void itsCheckRefusesOrWarns() {
    try (Valkey store = new Valkey();
        RedisLedger ledger = new RedisLedger(store.url())) {
      store.commands().configSet("appendonly", "no");
      List<String> warnings = ledger.check().toCompletableFuture().join();
      assertTrue(warnings.toString().contains("appendonly"), warnings::toString);
      assertEquals(warnings, ledger.warnings());
      expectUnfit(ledger, store);
    }
  }

  /** Waits for what comes by itself. */
  private static void until(BooleanSupplier isSo) {
    for (int tries = 0; tries < 600; tries++) {
      if (isSo.getAsBoolean()) {
        return;
      }
      try {
        TimeUnit.MILLISECONDS.sleep(100);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    throw new AssertionError("it never came");
  }

  /** Of two nodes, one is asked for each key, and connections to neither are left behind. */
  @Test
  void eachServerOfAClusterIsAskedForItsOwnKeys() {
    String[] nodes = {"--cluster-enabled", "yes", "--cluster-node-timeout", "500"};
    try (Valkey one = new Valkey(nodes);
        Valkey other = new Valkey(nodes);
        RedisLedger ledger =
            RedisLedger.ofCluster(RedisURI.create(one.url()), ClusterClientOptions.create())) {
      Ledger.Command here = look("swl1:{0123456789abcdef}:");
      Ledger.Command there = look("swl1:{other}:");
      int slot = SlotHash.getSlot("{other}");
      one.commands().clusterAddSlots(IntStream.range(0, 16_384).filter(at -> at != slot).toArray());
      other.commands().clusterAddSlots(slot);
      other.commands().clusterSetConfigEpoch(2);
      one.commands().clusterMeet("127.0.0.1", other.port);
      for (Valkey node : List.of(one, other)) {
        until(() -> node.commands().clusterInfo().contains("cluster_state:ok"));
      }
      expectUnfit(ledger, one, other);
      ledger.check().toCompletableFuture().join();
      for (int times = 0; times < 3; times++) {
        assertEquals(PASSED, run(ledger, here));
        assertEquals(PASSED, run(ledger, there));
      }
      RedisCommands<String, String> asked = one.commands();
      long before = asked.clientList().lines().count();
      other.kill();
      IntStream.range(0, 30).forEach(time -> failure(ledger, there));
      until(() -> asked.clientList().lines().count() <= before);
    }
  }

  /** It is closed when it comes. */
  @Test
  void aConnectionThatTakesTooLongIsNotWaitedFor() {
    CompletableFuture<Void> late = new CompletableFuture<>();
    ready = late;
    try (Valkey store = new Valkey();
        RedisConnections connections = connections(store, Duration.ofMillis(50))) {
      var failure = assertThrows(CompletionException.class, connections.shared("a")::join);
      assertInstanceOf(TimeoutException.class, failure.getCause());
      until(() -> kept.size() == 1);
      late.complete(null);
      until(kept::isEmpty);
    }
  }
}
