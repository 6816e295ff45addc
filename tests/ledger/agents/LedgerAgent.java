import io.github.sealwax.mcp.Ledger;
import io.github.sealwax.mcp.MemoryLedger;
import io.github.sealwax.mcp.RedisLedger;
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
 * Runs commands at a ledger: reads a JSON command a line, and writes a JSON reply a line.
 *
 * <p>Usage: java LedgerAgent.java redis://HOST:PORT[?cluster] | memory
 *
 * <p>A reply is an array of texts, or {"failed": "…"}. What takes longer than a second has failed: a guard gives it 300 ms,
 * which a test on a busy machine cannot.
 */
final class LedgerAgent {
  private static final McpJsonMapper JSON = McpJsonDefaults.getMapper();

  private static Ledger made(String address) {
    if (address.equals("memory")) {
      return new MemoryLedger();
    }
    String url = address.replaceFirst("\\?.*", "");
    return url.equals(address)
        ? new RedisLedger(url)
        : RedisLedger.ofCluster(RedisURI.create(url), ClusterClientOptions.create());
  }

  private record Asked(String script, List<String> keys, List<String> args) {}

  private static Object run(Ledger ledger, String line) {
    try {
      Asked asked = JSON.readValue(line, Asked.class);
      Ledger.Command command =
          new Ledger.Command(asked.script(), asked.keys(), asked.args(), Duration.ofSeconds(1));
      return ledger.run(command).toCompletableFuture().get(1, TimeUnit.SECONDS);
    } catch (Exception e) {
      return Map.of("failed", e.toString());
    }
  }

  public static void main(String[] arguments) throws IOException {
    // Others may write there.
    PrintStream replies = System.out;
    System.setOut(System.err);
    Ledger ledger = made(arguments[0]);
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      replies.println(JSON.writeValueAsString(run(ledger, line)));
    }
    System.exit(0);
  }
}
