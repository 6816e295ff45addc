package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A day of traffic in simulated time, after which the heap, with the memories of the module, is as
 * it was in the morning: users call a tool in two rounds, sessions go on, idle and expire, keys
 * rotate each hour, and users are signed out. SEALWAX_EXCHANGES=1000000 takes some minutes.
 */
class DayTest {
  private static final int HOURS = 24;
  private static final int EACH =
      Integer.parseInt(System.getenv().getOrDefault("SEALWAX_EXCHANGES", "2400")) / HOURS;
  private static final String SESSION = "io.modelcontextprotocol/session";

  private final TestClock clock = new TestClock(Instant.ofEpochSecond(1_800_000_000));
  private Key key = Key.generate();
  private final Codec codec =
      TestCodec.of(
          clock, Codec.builder("a").keys(KeyRing.of(key)).sessionMaxAge(Duration.ofHours(2)));
  private final Map<String, Integer> seen = new TreeMap<>();
  private final Guard guard =
      Guard.builder(codec)
          .principal(context -> user(context.get("user")))
          .ledger(new MemoryLedger(clock, Duration.ZERO))
          // This is not about time, and the machine may be busy.
          .timeLimit(Duration.ofSeconds(60))
          .onRefused(refusal -> seen.merge(refusal.code(), 1, Integer::sum))
          .build();
  private final Sessions<Integer> counters =
      guard.sessions(Sessions.Settings.of(Integer.class, context -> 0).ttl(Duration.ofMinutes(30)));
  private final Direct server = Direct.serving(guard, this::play);
  private final Random random = new Random(7);
  private final Object[] sessions = new Object[32];

  private static Principal user(Object name) {
    return Principal.subject("" + name);
  }

  /** Asks back, or counts in the session. */
  private Map<String, Object> play(McpTransportContext context) {
    Session<Integer> session = counters.of(context);
    if (session != null) {
      session.write(session.value() + 1);
    } else if (guard.opened(context, Integer.class) == null) {
      return Map.of("resultType", "input_required", "requestState", guard.state(context, 2));
    }
    return Map.of("resultType", "complete");
  }

  private Map<String, Object> call(int user, String member, Object value) {
    seen.merge("calls", 1, Integer::sum);
    Map<String, Object> params = new HashMap<>(Map.of("name", "t"));
    params.put(member, value);
    return server.result("" + user, "tools/call", params);
  }

  private void twoRounds(int user) {
    Object token = call(user, "requestState", null).get("requestState");
    assertEquals("complete", call(user, "requestState", token).get("resultType"));
    call(user, "requestState", token);
  }

  private void session(int at) {
    if (sessions[at] == null) {
      sessions[at] = server.result("" + at, "sessions/create", Map.of()).get("session");
    }
    Map<String, Object> result = call(at, "_meta", Map.of(SESSION, sessions[at]));
    sessions[at] = Values.object(result.get("_meta")).get(SESSION);
  }

  private void passAnHour() {
    // The tests' own logger keeps all lines.
    Log.LINES.clear();
    Key next = Key.generate();
    assertTrue(codec.setKeys(KeyRing.of(next, key)));
    key = next;
    guard.revoke(user(random.nextInt(100)), Duration.ofHours(1));
  }

  private static long heap() throws InterruptedException {
    for (int times = 0; times < 3; times++) {
      System.gc();
      // What cleans up runs beside.
      Thread.sleep(20);
    }
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @Test
  void memoryIsFlat() throws InterruptedException {
    long[] heaps = new long[HOURS];
    for (int hour = 0; hour < HOURS; hour++) {
      for (int at = 0; at < EACH; at++) {
        clock.advance(Duration.ofHours(1).dividedBy(EACH));
        twoRounds(random.nextInt(100));
        session(random.nextInt(sessions.length));
      }
      passAnHour();
      heaps[hour] = heap();
    }
    long morning = Arrays.stream(heaps, 4, 10).max().orElseThrow();
    long evening = Arrays.stream(heaps, 20, HOURS).max().orElseThrow();
    System.out.printf(
        "heap: %d kB in the morning, %d in the evening; %s%n", morning >> 10, evening >> 10, seen);
    assertTrue(evening < morning + morning / 10 + (512 << 10), Arrays.toString(heaps));
    assertTrue(seen.get("used") >= EACH * HOURS && seen.get("expired") > 0, "" + seen);
  }
}
