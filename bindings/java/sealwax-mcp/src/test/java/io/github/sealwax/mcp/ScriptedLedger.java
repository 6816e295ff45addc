package io.github.sealwax.mcp;

import io.github.sealwax.testing.TestClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;

/** The ledger of a transcript: our own in memory, whose answers may be lost. */
final class ScriptedLedger implements Ledger {
  private final TestClock clock;
  private final boolean fails;
  private final boolean isLocal;
  private final Map<String, Object> lost = new ConcurrentHashMap<>();
  private volatile MemoryLedger memory;

  ScriptedLedger(TestClock clock, String kind, Map<String, Object> options) {
    this.clock = clock;
    fails = kind.equals("failing");
    isLocal = !Boolean.FALSE.equals(options.get("local"));
    memory = new MemoryLedger(clock, Stage.seconds(options.getOrDefault("since", 3600)));
  }

  @Override
  public boolean isLocal() {
    return isLocal;
  }

  /** Brings about what an event says of it. */
  void before(Map<String, Object> event) {
    if (event.containsKey("forgets")) {
      memory.close();
      memory = new MemoryLedger(clock, Duration.ZERO);
    }
    lost.putAll(Values.object(event.get("lost")));
  }

  @Override
  public CompletionStage<List<String>> run(Command command) {
    String script = command.script();
    // When it is opened is the SDK's.
    if (!script.equals("open")) {
      Scenario.say("commands", script);
      if (fails) {
        return CompletableFuture.failedFuture(new IllegalStateException("the store is down"));
      }
    }
    CompletionStage<List<String>> reply = memory.run(command);
    Object left = lost.computeIfPresent(script, (name, times) -> (int) times - 1);
    return left == null || (int) left < 0
        ? reply
        : CompletableFuture.failedFuture(new IllegalStateException("the answer is lost"));
  }

  void close() {
    memory.close();
  }
}
