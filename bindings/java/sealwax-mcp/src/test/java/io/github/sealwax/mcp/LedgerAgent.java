package io.github.sealwax.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Runs commands at a ledger, as tests/ledger/agents/agent.py describes; there is none in SQLite.
 */
final class LedgerAgent {
  private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();

  /** This ledger gives a command no longer than the guard says. */
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private LedgerAgent() {}

  private record Told(String script, List<String> keys, List<String> args, Long withinMs) {
    Ledger.Command command() {
      Duration within = withinMs == null ? TIMEOUT : Duration.ofMillis(withinMs);
      return new Ledger.Command(script, keys, args, within);
    }
  }

  public static void main(String[] arguments) throws IOException {
    PrintStream out = new PrintStream(System.out, true, UTF_8);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    Ledger ledger = null;
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Object reply;
      try {
        ledger = ledger == null ? made(arguments[0]) : ledger;
        Ledger.Command command = JSON.readValue(line, Told.class).command();
        reply = ledger.run(command).toCompletableFuture().get(10, TimeUnit.SECONDS);
      } catch (Exception e) {
        reply = Map.of("failed", e.toString());
      }
      out.println(JSON.writeValueAsString(reply));
    }
    System.exit(0);
  }

  private static Ledger made(String address) {
    if (address.equals("memory")) {
      return new MemoryLedger();
    }
    String node = address.replace("?cluster", "");
    RedisLedger ledger =
        node.equals(address)
            ? new RedisLedger(address)
            : RedisLedger.ofCluster(RedisURI.create(node), ClusterClientOptions.create());
    // To load its classes takes longer than a command may; what fails here the command tells.
    ledger.check().exceptionally(failure -> List.of()).toCompletableFuture().join();
    return ledger;
  }
}
