package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** A real Valkey at a port of its own: VALKEY_SERVER is its program. */
final class Valkey implements AutoCloseable {
  private static final String PROGRAM = System.getenv("VALKEY_SERVER");

  final int port = freePort();
  private final Process process;
  private final RedisClient client = RedisClient.create(url());

  Valkey(String... config) {
    assumeTrue(
        PROGRAM != null || System.getenv("CI") != null, "LEFT OUT, for want of VALKEY_SERVER");
    try {
      Path folder = Files.createTempDirectory("valkey");
      List<String> command =
          new ArrayList<>(List.of(PROGRAM, "--port", "" + port, "--dir", folder.toString()));
      command.addAll(List.of("--bind", "127.0.0.1", "--save", ""));
      command.addAll(List.of(config));
      File log = folder.resolve("log").toFile();
      process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
      for (int tries = 0; tries < 600; tries++) {
        if (Files.readString(log.toPath()).contains("Ready to accept connections")) {
          return;
        }
        TimeUnit.MILLISECONDS.sleep(50);
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
    throw new IllegalStateException("valkey did not start");
  }

  /** Below those of clients; a node of a cluster takes the one 10,000 above it too. */
  private static int freePort() {
    for (int tries = 0; tries < 100; tries++) {
      int found = ThreadLocalRandom.current().nextInt(10_000, 22_000);
      try (ServerSocket one = new ServerSocket(found);
          ServerSocket two = new ServerSocket(found + 10_000)) {
        return Math.min(one.getLocalPort(), two.getLocalPort());
      } catch (IOException e) {
        // Another one has it.
      }
    }
    throw new IllegalStateException("no port is free");
  }

  String url() {
    return "redis://127.0.0.1:" + port;
  }

  /** The commands of the tests themselves. */
  RedisCommands<String, String> commands() {
    return client.connect().sync();
  }

  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  @Override
  public void close() {
    client.shutdown();
    kill();
  }
}
