package io.github.sealwax.mcp.internal.ledger;

import io.github.sealwax.mcp.LedgerException;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.models.partitions.Partitions;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode;
import io.lettuce.core.cluster.models.partitions.RedisClusterNode.NodeFlag;
import io.lettuce.core.codec.StringCodec;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Connects to one server, or to the one of a Cluster that has a key: all keys of a command are on
 * one.
 */
public record RedisServers(
    AbstractRedisClient client, Function<String, CompletableFuture<RedisConnection>> connector)
    implements AutoCloseable {
  public static RedisServers one(RedisURI uri, ClientOptions options) {
    RedisClient client = RedisClient.create(uri);
    client.setOptions(strict(options.mutate()).build());
    return new RedisServers(
        client,
        key ->
            client
                .connectAsync(StringCodec.UTF8, uri)
                .toCompletableFuture()
                .thenApply(connection -> new RedisConnection(connection, connection)));
  }

  public static RedisServers cluster(RedisURI seed, ClusterClientOptions options) {
    RedisClusterClient client = RedisClusterClient.create(seed);
    ClusterClientOptions.Builder settings = options.mutate();
    strict(settings);
    client.setOptions(settings.build());
    return new RedisServers(
        client,
        key ->
            // The Cluster may have changed since the last time.
            client
                .refreshPartitionsAsync()
                .thenCompose(fresh -> client.connectAsync(StringCodec.UTF8))
                .thenCompose(cluster -> node(cluster, SlotHash.getSlot(key)))
                .toCompletableFuture());
  }

  /** If it fails, nothing stays open. */
  private static CompletableFuture<RedisConnection> node(
      StatefulRedisClusterConnection<String, String> cluster, int slot) {
    return CompletableFuture.completedFuture(cluster.getPartitions())
        .thenCompose(
            partitions -> {
              RedisClusterNode node = partitions.getPartitionBySlot(slot);
              if (node == null) {
                throw new LedgerException("expected a server with slot " + slot + ", found none");
              }
              return cluster.getConnectionAsync(node.getNodeId());
            })
        .thenApply(node -> new RedisConnection(node, cluster))
        .whenComplete(
            (made, failure) -> {
              if (failure != null) {
                var unused = cluster.closeAsync();
              }
            });
  }

  /** Returns the slot of a key, by which a Cluster chooses its server; 0 without a Cluster. */
  public int slot(String key) {
    return client instanceof RedisClusterClient ? SlotHash.getSlot(key) : 0;
  }

  /** Returns a key for each server that has keys: of a Cluster, one of its first slot. */
  public CompletableFuture<List<String>> keys() {
    if (!(client instanceof RedisClusterClient cluster)) {
      return CompletableFuture.completedFuture(List.of(""));
    }
    return cluster
        .refreshPartitionsAsync()
        .thenApply(fresh -> keys(cluster.getPartitions()))
        .toCompletableFuture();
  }

  private static List<String> keys(Partitions nodes) {
    List<String> keys =
        nodes.stream()
            .filter(node -> node.is(NodeFlag.UPSTREAM) && !node.getSlots().isEmpty())
            .map(node -> keyOf(node.getSlots().get(0)))
            .toList();
    if (keys.isEmpty()) {
      throw new LedgerException("expected servers with slots, found none");
    }
    return keys;
  }

  private static String keyOf(int slot) {
    return Stream.iterate(0, number -> number + 1)
        .map(String::valueOf)
        .filter(key -> SlotHash.getSlot(key) == slot)
        .findFirst()
        .orElseThrow();
  }

  /** No command is sent twice, or late. */
  private static ClientOptions.Builder strict(ClientOptions.Builder options) {
    return options
        .autoReconnect(false)
        .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS);
  }

  CompletableFuture<RedisConnection> connect(String key) {
    return connector.apply(key);
  }

  @Override
  public void close() {
    // Nobody waits for it.
    var unused = client.shutdownAsync();
  }
}
