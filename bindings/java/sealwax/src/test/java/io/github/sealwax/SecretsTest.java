package io.github.sealwax;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** No exception and no printed object holds a key, a token or a payload. */
class SecretsTest {
  private static final String PAYLOAD = "hunter2";
  private static final List<JsonNode> KEYS =
      VectorsTest.json("tests/vectors/v1.json").get("keys").valueStream().toList();
  private static final String KEY = KEYS.get(0).get("text").asString();
  private static final byte[] SECRET =
      HexFormat.of().parseHex(KEYS.get(0).get("secret").asString());

  /** 8 characters of a key's text, 8 bytes of its secret, a payload. */
  private static final List<String> SECRETS =
      Stream.of(
              KEYS.stream().flatMap(key -> pieces(key.get("text").asString().substring(5), 8)),
              KEYS.stream().flatMap(key -> pieces(key.get("secret").asString(), 16)),
              Stream.of(PAYLOAD, array(PAYLOAD.getBytes(UTF_8)), array(Arrays.copyOf(SECRET, 8))))
          .flatMap(each -> each)
          .toList();

  /** Every run of so many characters. */
  private static Stream<String> pieces(String text, int size) {
    return IntStream.rangeClosed(0, text.length() - size)
        .mapToObj(from -> text.substring(from, from + size));
  }

  private static String array(byte[] bytes) {
    return Arrays.toString(bytes).replaceAll("[\\[\\]]", "");
  }

  private static void holdsNothing(String said, Stream<String> others) {
    // What was found is not told here either.
    assertEquals(0, Stream.concat(SECRETS.stream(), others).filter(said::contains).count());
  }

  /** All that is written of an exception: with its stack, its causes, and what it suppressed. */
  private static void fails(Executable act, Stream<String> others) {
    SealwaxException refused = assertThrows(SealwaxException.class, act);
    StringWriter said = new StringWriter();
    refused.printStackTrace(new PrintWriter(said, true));
    holdsNothing(said + " " + refused + " " + refused.getLocalizedMessage(), others);
  }

  @TestFactory
  Stream<DynamicTest> refusedTextsAreNotTold() {
    return VectorsTest.each(
        "reject",
        (file, vector) -> {
          String what = vector.get("what").asString();
          String text = vector.get(what.equals("sealed") ? "token" : what).asString();
          VectorsTest.atItsTime(
              vector, () -> fails(() -> VectorsTest.open(file, vector), pieces(text, 12)));
        });
  }

  @TestFactory
  Stream<DynamicTest> refusedKeyTextsAreNotTold() {
    return VectorsTest.each(
        "key_rings",
        (file, vector) -> {
          String ring = vector.get("ring").asString();
          if (vector.has("error")) {
            List<String> words =
                Stream.of(ring.split("[\\s,]+"))
                    .flatMap(word -> pieces(word.substring(Math.min(5, word.length())), 8))
                    .toList();
            fails(() -> KeyRing.parse(ring), words.stream());
            fails(() -> Key.parse(ring), words.stream());
            fails(() -> Inspected.of(ring + "x"), words.stream());
          }
        });
  }

  @Test
  void keysAreNotTold(@TempDir Path folder) throws IOException {
    Path file = Files.writeString(folder.resolve("keys"), KEY + " " + KEY + "x");
    for (Executable act :
        List.<Executable>of(
            () -> Key.parse(KEY + "\ud800"),
            () -> Key.fromSecret(Arrays.copyOf(SECRET, 31)),
            () -> Key.fromSecret(KEY.getBytes(UTF_8)),
            () -> KeyRing.parse(KEY + " " + KEY),
            () -> KeyRing.parse(KEY + "\ud800"),
            () -> KeyRing.read(file),
            () -> KeyRing.read(Path.of(KEY)),
            () -> KeySource.ofEnvironment(Map.of("SEALWAX_KEYS_FILE", KEY + "\0")),
            () -> Inspected.of(KEY + "x"))) {
      fails(act, Stream.of());
    }
  }

  /** Of what the vectors do not refuse. */
  @Test
  void tokensAndPayloadsAreNotTold() {
    View alice =
        TestEnvironment.build(Codec.builder("a").keys(KeyRing.parse(KEY)))
            .view(Principal.subject("alice"));
    Sealer session = alice.session();
    String token = session.seal(PAYLOAD.getBytes(UTF_8));
    byte[] large = PAYLOAD.repeat(1000).getBytes(UTF_8);
    for (Executable act :
        List.<Executable>of(
            () -> session.open(token + "AAAA"),
            () -> session.open(token + "\ud800"),
            () -> session.seal(large),
            () -> alice.sessions().open(Map.of("sessionId", token, "state", token)),
            () -> alice.sessions().open(Map.of("state", token + "\ud800")),
            () -> alice.sessions().openJson(PAYLOAD + token),
            () -> alice.sessions().verify(token),
            () -> alice.verifyHandle("basket", token),
            () -> RequestContext.ofJson("tools/call", "x", token))) {
      fails(act, pieces(token, 12));
    }
  }

  @Test
  void objectsDoNotTell() {
    CodecBuilder settings = Codec.builder("a").keys(KeyRing.parse(KEY));
    Codec codec = TestEnvironment.build(settings);
    View alice = codec.view(Principal.subject("alice"));
    SessionMetadata sent = alice.sessions().create(PAYLOAD.getBytes(UTF_8));
    Session session = alice.sessions().open(sent.toMap());
    for (Object object :
        List.of(
            Key.parse(KEY),
            KeyRing.parse(KEY),
            new KeySource(null, KeyRing.parse(KEY)),
            settings,
            codec,
            alice,
            alice.session(),
            alice.sessions(),
            sent,
            session,
            alice.verifySessionId(session.id()))) {
      holdsNothing(
          object + " " + List.of(object) + " " + Map.of("it", object),
          Stream.concat(pieces(session.id(), 60), pieces(sent.state(), 12)));
    }
  }
}
