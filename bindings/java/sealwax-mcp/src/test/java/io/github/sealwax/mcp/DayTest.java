package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Lifetime;
import io.github.sealwax.Principal;
import io.github.sealwax.SessionMetadata;
import io.github.sealwax.TokenFields;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
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
  private static final long IDLE = 1800;
  private static final int EACH =
      Integer.parseInt(System.getenv().getOrDefault("SEALWAX_EXCHANGES", "2400")) / HOURS;

  private final TestClock clock = new TestClock(Instant.ofEpochSecond(1_800_000_000));
  private Key key = Key.generate();
  private final Codec codec =
      TestCodec.of(
          clock, Codec.builder("a").keys(KeyRing.of(key)).sessionMaxAge(Duration.ofHours(2)));
  private final Engine engine =
      new Engine(codec, Map.of("sessions", Map.of("ttl", IDLE), "ledger", Map.of("local", true)));
  private final MemoryLedger ledger = new MemoryLedger(clock, Duration.ZERO);
  private final TokenFields fields = engine.tokenFields("tools/call");
  private final Random random = new Random(7);
  private final Map<?, ?>[] sessions = new Map<?, ?>[32];
  private final Map<String, Integer> seen = new TreeMap<>();

  private Step ask(Engine.Exchange exchange, Step first) {
    Step step = first;
    while ("ledger".equals(step.text("name"))) {
      var command =
          new Ledger.Command(
              step.text("script"), step.texts("keys"), step.texts("args"), Duration.ZERO);
      List<String> reply = ledger.run(command).toCompletableFuture().join();
      step = exchange.told(Engine.Told.of(reply));
    }
    return step;
  }

  @SuppressWarnings("unchecked")
  private Engine.Begun begin(int user, String token, Map<?, ?> session) {
    Map<String, Object> caller = Map.of("subject", String.valueOf(user));
    var message =
        new Engine.Message(
            "tools/call",
            "t",
            null,
            token,
            (Map<String, Object>) session,
            null,
            caller,
            null,
            false,
            true,
            null);
    Engine.Begun begun = engine.message(message, fields);
    Step step = ask(begun.exchange(), begun.step());
    List<Map<String, Object>> refused = step.objects("refused");
    seen.merge(
        refused.isEmpty() ? "delivered" : (String) refused.get(0).get("code"), 1, Integer::sum);
    return new Engine.Begun(begun.exchange(), step);
  }

  private Step end(Engine.Exchange exchange, Map<String, Object> result) {
    Step step = ask(exchange, exchange.result(result, fields, false));
    assertTrue(step.is("respond"));
    exchange.close();
    return step;
  }

  private void twoRounds(int user) {
    Engine.Exchange asking = begin(user, null, null).exchange();
    String token = asking.sealState("{\"page\":2}");
    end(asking, Map.of("resultType", "input_required", "requestState", token));
    Engine.Begun answered = begin(user, token, null);
    assertEquals("{\"page\":2}", answered.step().text("opened"));
    end(answered.exchange(), Map.of("resultType", "complete"));
    Engine.Begun again = begin(user, token, null);
    assertEquals("used", again.step().objects("refused").get(0).get("code"));
    again.exchange().close();
  }

  private void session(int at) {
    if (sessions[at] == null) {
      var view = codec.view(Principal.subject(String.valueOf(at)));
      SessionMetadata made =
          view.sessions(Lifetime.of(Duration.ofSeconds(IDLE)))
              .create("0".getBytes(StandardCharsets.US_ASCII));
      sessions[at] = Map.of("id", made.sessionId(), "state", made.state());
    }
    Engine.Begun begun = begin(at, null, sessions[at]);
    if (begun.step().is("reply")) {
      begun.exchange().close();
      sessions[at] = null;
      return;
    }
    begun.exchange().write("{\"count\":1}");
    Step step = end(begun.exchange(), Map.of("resultType", "complete"));
    var meta = (Map<?, ?>) Json.changed(Map.of(), step.list("set")).get("_meta");
    var metadata = (Map<?, ?>) meta.get("io.modelcontextprotocol/session");
    sessions[at] = Map.of("id", metadata.get("sessionId"), "state", metadata.get("state"));
  }

  private void passAnHour() {
    Key next = Key.generate();
    assertTrue(codec.setKeys(KeyRing.of(next, key)));
    key = next;
    Map<String, Object> user = Map.of("subject", String.valueOf(random.nextInt(100)));
    Engine.Begun begun = engine.revoke(user, 3600L);
    assertTrue(ask(begun.exchange(), begun.step()).is("done"));
    begun.exchange().close();
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
    System.out.println(
        "heap: "
            + (morning >> 10)
            + " kB in the morning, "
            + (evening >> 10)
            + " in the evening; "
            + seen);
    assertTrue(evening < morning + morning / 10 + (512 << 10), Arrays.toString(heaps));
    assertTrue(seen.get("used") >= EACH * HOURS);
  }
}
