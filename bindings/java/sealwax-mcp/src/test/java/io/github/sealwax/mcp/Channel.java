package io.github.sealwax.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.sealwax.mcp.internal.Json;
import java.io.PrintStream;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;

/** What a scenario server says to the driver, and the handlers that wait to be told. */
final class Channel {
  private static final PrintStream OUT = new PrintStream(System.out, true, UTF_8);
  private static final Map<Object, BlockingQueue<Map<String, Object>>> HANDLERS =
      new ConcurrentHashMap<>();
  private static final AtomicInteger IDS = new AtomicInteger();

  private Channel() {}

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
