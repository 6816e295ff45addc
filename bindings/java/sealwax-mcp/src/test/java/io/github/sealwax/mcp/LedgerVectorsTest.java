package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The cases of tests/vectors/ledger.json: what the core judges here, and the names of keys. */
class LedgerVectorsTest {
  private static final Map<String, Object> FILE = read();
  private static final long NOW = 1_800_000_000L;

  /** A store with transactions has no process of its own, and so no other one. */
  private static final Pattern OTHERS = Pattern.compile(" (OTHER|PROMOTED|EVICTED|FORMER) ");

  private static Map<String, Object> read() {
    try {
      Path vectors = Path.of(System.getProperty("repository"), "tests/vectors");
      return Json.object(Files.readString(vectors.resolve("ledger.json")));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String resolved(Object text) {
    return text == null
        ? null
        : Stream.of(((String) text).split(" ", -1))
            .map(
                part ->
                    part.matches("@-?\\d+")
                        ? "" + (NOW + Long.parseLong(part.substring(1)))
                        : part.equals("RUN") ? "-" : part)
            .collect(Collectors.joining(" "));
  }

  private static List<String> resolved(List<Object> texts) {
    return texts.stream().map(LedgerVectorsTest::resolved).collect(Collectors.toList());
  }

  private static Map<String, Object> judged(Map<String, Object> command, List<String> values) {
    byte[] written = Json.bytes(command);
    byte[] had = Json.bytes(values);
    return Json.object(
        Library.shared()
            .cross(
                x -> {
                  Output out = x.output(2 * (written.length + had.length + 4096));
                  x.withBytes(written)
                      .with(NOW)
                      .withBytes(had)
                      .withOutput(out)
                      .call(Function.LEDGER_JUDGE);
                  return out.text();
                }));
  }

  @Test
  void aJudgementIsAsTheVectorsHaveIt() {
    int played = 0;
    for (Object one : Values.list(FILE.get("cases"))) {
      Map<String, Object> vector = Values.object(one);
      if (OTHERS.matcher(Json.write(vector.get("values"))).find()) {
        continue;
      }
      List<String> values = resolved(Values.list(vector.get("values")));
      Map<String, Object> command =
          Map.of(
              "script", vector.get("script"),
              "keys", vector.get("keys"),
              "args", resolved(Values.list(vector.get("args"))));
      Map<String, Object> judged = judged(command, values);
      assertEquals(
          resolved(Values.list(vector.get("reply"))), judged.get("reply"), () -> "" + vector);

      Map<String, List<String>> after = new HashMap<>();
      for (Object each : Values.list(judged.get("writes"))) {
        Map<String, Object> write = Values.object(each);
        String key = (String) write.get("key");
        String had = values.get(Values.list(vector.get("keys")).indexOf(key));
        if (write.get("value") != null) {
          String until = write.get("until") == null ? null : "" + write.get("until");
          after.put(key, java.util.Arrays.asList((String) write.get("value"), until));
        } else if (had != null) {
          after.put(key, null);
        }
      }
      Map<String, List<String>> expected = new HashMap<>();
      Values.object(vector.get("after"))
          .forEach(
              (key, kept) -> expected.put(key, kept == null ? null : resolved(Values.list(kept))));
      assertEquals(expected, after, () -> "" + vector);
      played++;
    }
    assertTrue(played > 300);
  }

  @Test
  void keysHaveTheNamesOfTheVectors() {
    for (Object one : Values.list(FILE.get("names"))) {
      Map<String, Object> vector = Values.object(one);
      Map<String, Object> who = Values.object(vector.get("principal"));
      Principal principal =
          Boolean.TRUE.equals(who.get("anonymous"))
              ? Principal.anonymous()
              : Principal.of(
                  (String) who.get("issuer"),
                  (String) who.get("client"),
                  (String) who.get("subject"));
      Codec codec =
          Codec.builder((String) vector.get("audience")).keys(KeyRing.of(Key.generate())).build();
      Engine engine = new Engine(codec, Map.of("ledger", Map.of("label", vector.get("label"))));
      Engine.Begun begun = engine.revoke(Caller.document(principal), null);
      String namespace = vector.get("namespace") + ":";
      assertEquals(List.of(namespace + "began", namespace + "fence"), begun.step().texts("keys"));
      try (Engine.Exchange exchange = begun.exchange()) {
        Step revoke = exchange.told(Engine.Told.of(List.of("ok", "1", "1", "2", "0")));
        assertEquals(List.of(namespace + "p:" + vector.get("mark")), revoke.texts("keys"));
      }
    }
  }
}
