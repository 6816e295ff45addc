package io.github.sealwax.mcp;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/** The ledger of a transcript: our own in memory, whose answers may be lost. */
final class ScriptedLedger implements Ledger {
  private static final long HOUR = 3600;

  private final World world;
  private final Supplier<Found> found;
  private final boolean fails;
  private final boolean isLocal;
  private final Map<String, Long> lost = new HashMap<>();
  private MemoryLedger memory;

  ScriptedLedger(World world, Supplier<Found> found, Map<String, Object> settings) {
    this.world = world;
    this.found = found;
    Map<String, Object> options = World.object(settings.get("ledgerOptions"));
    fails = "failing".equals(settings.get("ledger"));
    isLocal = !Boolean.FALSE.equals(options.get("local"));
    memory = made(World.number(options.get("since"), HOUR));
  }

  private MemoryLedger made(long since) {
    return new MemoryLedger(world.clock, Duration.ofSeconds(since));
  }

  @Override
  public boolean isLocal() {
    return isLocal;
  }

  /** Brings about what an event says of it. */
  void before(Map<String, Object> event) {
    if (Boolean.TRUE.equals(event.get("forgets"))) {
      memory.close();
      memory = made(0);
    }
    World.object(event.get("lost"))
        .forEach((name, times) -> lost.put(name, World.number(times, 0)));
  }

  @Override
  public CompletionStage<List<String>> run(Command command) {
    // When it is opened is the SDK's.
    if (!command.script().equals("open")) {
      found.get().commands.add(command.script());
      if (fails) {
        return CompletableFuture.failedFuture(new IllegalStateException("the store is down"));
      }
    }
    CompletionStage<List<String>> reply = memory.run(command);
    if (lost.getOrDefault(command.script(), 0L) > 0) {
      lost.merge(command.script(), -1L, Long::sum);
      return CompletableFuture.failedFuture(new IllegalStateException("the answer is lost"));
    }
    return reply;
  }

  void close() {
    memory.close();
  }
}
