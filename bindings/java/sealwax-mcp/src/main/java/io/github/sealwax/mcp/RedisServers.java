package io.github.sealwax.mcp;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.SlotHash;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Connects to one server, or to the one of a Cluster that has a key: all keys of a ledger are on
 * one.
 */
final class RedisServers {
  private final AbstractRedisClient client;
  private final Function<String, CompletableFuture<RedisConnection>> connector;

  RedisServers(
      AbstractRedisClient client, Function<String, CompletableFuture<RedisConnection>> connector) {
    this.client = client;
    this.connector = connector;
  }

  static RedisServers one(RedisURI uri, ClientOptions options) {
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

  static RedisServers cluster(RedisURI seed, ClusterClientOptions options) {
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
                .thenCompose(
                    cluster ->
                        cluster
                            .getConnectionAsync(
                                cluster
                                    .getPartitions()
                                    .getPartitionBySlot(SlotHash.getSlot(key))
                                    .getNodeId())
                            .thenApply(node -> new RedisConnection(node, cluster)))
                .toCompletableFuture());
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

  void close() {
    // Nobody waits for it.
    var unused = client.shutdownAsync();
  }
}
