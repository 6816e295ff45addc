package io.github.sealwax.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.sealwax.KeyRing;
import io.github.sealwax.mcp.internal.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * The scenario server of this language: tests/driver/run.py says what it is told, and what it says.
 *
 * <p>The SDK knows nothing of revision 2026-07-28, but its transport carries any message: {@code
 * hooks} has a handler of any method on it, in place of the SDK's server that {@code sdk} has.
 */
final class Scenario {
  private static final PrintStream OUT = new PrintStream(System.out, true, UTF_8);
  private static final Map<Object, BlockingQueue<Map<String, Object>>> HANDLERS =
      new ConcurrentHashMap<>();
  private static final AtomicInteger IDS = new AtomicInteger();

  private final Container container = new Container();
  private Stage stage;

  private Scenario() {}

  public static void main(String[] arguments) throws IOException {
    Scenario scenario = new Scenario();
    int port = scenario.container.port();
    List<String> systems = List.of("hooks", "sdk");
    Map<String, Object> legacy = Map.of("sdk", "2025-11-25");
    say(Map.of("http", port, "systems", systems, "legacy", legacy, "events", true));
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Map<String, Object> told = Json.object(line);
      if (told.containsKey("to")) {
        tell(told.get("to"), told);
      } else {
        say("done", scenario.done(told));
      }
    }
    // Handlers may wait still.
    System.exit(0);
  }

  private Object done(Map<String, Object> told) {
    switch ((String) told.get("do")) {
      case "serve" -> {
        if (stage != null) {
          stage.close();
        }
        stage = new Stage(told);
        container.place = stage::serve;
      }
      case "at" -> stage.at(told);
      case "revoke" -> {
        return stage.revoke(Values.object(told.get("whom")));
      }
      case "keys" -> stage.codec.setKeys(KeyRing.parse((String) told.get("keys")));
      case "heap" -> {
        return Map.of("heap", heap());
      }
      // Whatever was answered has been served, notifications too.
      case "settle" -> {}
      default -> throw new IllegalArgumentException(told.toString());
    }
    return null;
  }

  /** Returns how much of the heap is in use, in which the modules' memories are. */
  private static long heap() {
    // The tests' own logger keeps all lines.
    Log.LINES.clear();
    for (int times = 0; times < 3; times++) {
      System.gc();
      // What cleans up runs beside.
      LockSupport.parkNanos(20_000_000);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  static void say(Map<String, ?> said) {
    // A line at a time, whichever thread says it.
    OUT.println(Json.write(said));
  }

  static void say(String name, Object value) {
    say(Collections.singletonMap(name, value));
  }

  /** Tells a handler what to do. */
  static void tell(Object id, Map<String, Object> told) {
    HANDLERS.get(id).add(told);
  }

  /** A handler that runs. */
  static final class Handler implements AutoCloseable {
    private final Integer id = IDS.incrementAndGet();
    private final BlockingQueue<Map<String, Object>> told = new LinkedBlockingQueue<>();

    /** Says that it runs, and what it sees. */
    Handler(Map<String, Object> seen) {
      HANDLERS.put(id, told);
      seen.put("id", id);
      say("handler", seen);
    }

    /** Waits for what it is to do next. */
    Map<String, Object> next() {
      try {
        return told.take();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public void close() {
      HANDLERS.remove(id);
    }
  }
}
