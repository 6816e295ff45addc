package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Every vector of tests/vectors, whose tokens were made by another implementation, and of
 * tests/requests.json.
 */
class VectorsTest {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final List<JsonNode> FILES =
      Stream.of("tests/vectors/v1.json", "tests/vectors/more.json", "tests/requests.json")
          .map(VectorsTest::json)
          .toList();
  private static final List<String> KINDS =
      List.of("none", "state", "request-state", "session", "cursor", "handle-state");

  private static final TypeReference<Map<String, String>> TEXTS = new TypeReference<>() {};
  private static final TypeReference<Map<String, Object>> MEMBERS = new TypeReference<>() {};
  private static final TypeReference<List<@Nullable String>> PARTS = new TypeReference<>() {};

  /** Reads a file of the repository. */
  static JsonNode json(String path) {
    return JSON.readTree(Path.of(System.getProperty("repository"), path));
  }

  interface Check {
    void run(JsonNode file, JsonNode vector);
  }

  static Stream<DynamicTest> each(String section, Check check) {
    List<DynamicTest> tests =
        FILES.stream()
            .flatMap(
                file ->
                    IntStream.range(0, file.path(section).size())
                        .mapToObj(
                            index -> {
                              JsonNode vector = file.get(section).get(index);
                              String name = vector.path("id").asString(section + " " + index);
                              return DynamicTest.dynamicTest(name, () -> check.run(file, vector));
                            }))
            .toList();
    assertFalse(tests.isEmpty(), section);
    return tests.stream();
  }

  /** A call is refused as a vector says; returns whether it says that. */
  private static boolean isRefused(JsonNode vector, Executable call) {
    if (vector.has("error")) {
      var refused = assertThrows(SealwaxException.class, call);
      assertEquals(text(vector, "error"), refused.code().toString());
    }
    return vector.has("error");
  }

  private static @Nullable String text(JsonNode vector, String name) {
    return vector.path(name).asString(null);
  }

  private static List<String> ids(JsonNode vector) {
    return vector.get("keys").valueStream().map(JsonNode::asString).toList();
  }

  private static byte[] hex(JsonNode node) {
    return HexFormat.of().parseHex(node.asString());
  }

  private static @Nullable String part(JsonNode principal, String name) {
    String part = principal.path(name).asString("");
    return part.isEmpty() ? null : part;
  }

  /** The view that a vector asks for: made with one key, or opened with a ring. */
  private static View view(JsonNode file, JsonNode vector) {
    Stream<JsonNode> places =
        vector.has("ring") ? vector.get("ring").valueStream() : Stream.of(vector.get("key"));
    String keys =
        places
            .map(place -> file.get("keys").get(place.asInt()).get("text").asString())
            .collect(Collectors.joining(","));
    JsonNode caller = vector.get("principal");
    Principal principal =
        caller.path("anonymous").asBoolean(false)
            ? Principal.anonymous()
            : Principal.of(part(caller, "issuer"), part(caller, "client"), part(caller, "subject"));
    CodecBuilder settings = Codec.builder(text(vector, "audience")).keys(KeyRing.parse(keys));
    return TestEnvironment.build(settings).view(principal);
  }

  /** The sealer of any kind, with any fields: a typed sealer has no way to ask for some. */
  private static Sealer sealer(JsonNode file, JsonNode vector) {
    byte[] context = hex(vector.get("context"));
    // All others are custom.
    int kind = KINDS.indexOf(text(vector, "kind"));
    return view(file, vector)
        .sealer(
            kind < 0 ? 127 : kind,
            text(vector, "label"),
            part(vector, "session_id"),
            context.length == 0 ? null : context);
  }

  @TestFactory
  Stream<DynamicTest> vectors() {
    return Stream.of(
            each("keys", VectorsTest::key),
            each("key_rings", VectorsTest::ring),
            each("derived", VectorsTest::derived),
            each("environments", VectorsTest::environment),
            each("sealed", VectorsTest::sealed),
            each("session_ids", VectorsTest::identifier),
            each("handles", VectorsTest::identifier),
            each("request_contexts", VectorsTest::context),
            each("request_context_reject", VectorsTest::noContext),
            each("accept", VectorsTest::accepted),
            each("reject", VectorsTest::rejected),
            each("tokenFields", VectorsTest::tokenFields),
            each("claims", VectorsTest::claims),
            each("only", VectorsTest::only))
        .flatMap(tests -> tests);
  }

  private static void key(JsonNode file, JsonNode vector) {
    Key key = Key.fromSecret(hex(vector.get("secret")));
    assertEquals(text(vector, "text"), key.toText());
    assertEquals(text(vector, "kid"), key.id());
    assertEquals(key.id(), Key.parse(text(vector, "text")).id());
  }

  private static void ring(JsonNode file, JsonNode vector) {
    String text = text(vector, "ring");
    if (!isRefused(vector, () -> KeyRing.parse(text))) {
      assertEquals(ids(vector), KeyRing.parse(text).ids());
    }
  }

  private static void derived(JsonNode file, JsonNode vector) {
    String secret = text(vector, "from");
    if (!isRefused(vector, () -> Key.derive(secret))) {
      assertEquals(text(vector, "kid"), Key.derive(secret).id());
      assertEquals(text(vector, "text"), Key.derive(secret).toText());
    }
  }

  private static void environment(JsonNode file, JsonNode vector) {
    Map<String, String> variables = JSON.convertValue(vector.get("variables"), TEXTS);
    if (isRefused(vector, () -> KeySource.ofEnvironment(variables))) {
      return;
    }
    KeySource source = KeySource.ofEnvironment(variables);
    assertEquals(vector.has("is_file"), source.file() != null);
    if (source.ring() != null) {
      assertEquals(ids(vector), source.ring().ids());
    }
  }

  /** A token comes out the same. */
  private static void sealed(JsonNode file, JsonNode vector) {
    Sealer sealer = sealer(file, vector);
    byte[] payload = hex(vector.get("payload"));
    long ttl = vector.get("ttl").asLong();
    Lifetime lifetime = ttl == 0 ? Lifetime.noExpiry() : Lifetime.of(Duration.ofSeconds(ttl));
    String token = text(vector, "token");
    TestEnvironment.at(
        vector.get("issued_at").asLong() * 1000 + 999,
        hex(vector.get("nonce")),
        () -> {
          Opened opened = sealer.open(token);
          check(opened, vector);
          // Only a renewal has a generation above 0; no call seals a new token of an age above 0.
          long generation = vector.get("generation").asLong();
          if (generation > 0) {
            Opened before = new Opened(opened.startedAt, opened.generation - 1);
            assertEquals(token, sealer.renew(before, payload, lifetime));
          } else if (vector.get("age").asLong() == 0) {
            assertEquals(token, sealer.seal(payload, lifetime));
          }
        });
  }

  private static void identifier(JsonNode file, JsonNode vector) {
    View view = view(file, vector);
    String type = vector.path("type").asString(null);
    String text = text(vector, type == null ? "session_id" : "handle");
    long now = vector.get("issued_at_ms").asLong();
    TestEnvironment.at(
        now,
        Arrays.copyOfRange(hex(vector.get("ulid")), 6, 16),
        () -> {
          assertEquals(text, type == null ? view.mintSessionId() : view.mintHandle(type));
          Identifier found =
              type == null ? view.verifySessionId(text) : view.verifyHandle(type, text);
          assertEquals(text, found.text());
          assertEquals(Instant.ofEpochMilli(now), found.createdAt());
          assertEquals(text(vector, "ulid"), found.ulid());
          assertNull(found.endsAt());
          assertFalse(found.needsReseal());
        });
  }

  private static void context(JsonNode file, JsonNode vector) {
    String method = text(vector, "method");
    String target = text(vector, "target");
    String arguments = text(vector, "arguments");
    String expected = text(vector, "context");
    assertEquals(expected, RequestContext.ofJson(method, target, arguments).toString());
    if (arguments != null && !arguments.isEmpty()) {
      Object read = JSON.readValue(arguments, Object.class);
      assertEquals(expected, RequestContext.of(method, target, read).toString());
    }
  }

  private static void noContext(JsonNode file, JsonNode vector) {
    String method = vector.path("method").asString("tools/call");
    String target = vector.path("target").asString("x");
    String arguments = text(vector, "arguments");
    assertTrue(isRefused(vector, () -> RequestContext.ofJson(method, target, arguments)));
  }

  private static void accepted(JsonNode file, JsonNode vector) {
    atItsTime(
        vector,
        () -> {
          Object found = open(file, vector);
          JsonNode expected = vector.get("expect");
          boolean isOld = expected.get("needs_reseal").asBoolean();
          if (found instanceof Opened opened) {
            check(opened, expected);
            assertEquals(isOld, opened.needsReseal());
          } else {
            Identifier identifier = (Identifier) found;
            assertEquals(text(expected, "ulid"), identifier.ulid());
            assertEquals(isOld, identifier.needsReseal());
          }
        });
  }

  private static void rejected(JsonNode file, JsonNode vector) {
    atItsTime(vector, () -> assertTrue(isRefused(vector, () -> open(file, vector))));
  }

  static void atItsTime(JsonNode vector, Runnable body) {
    long now =
        vector.has("now_ms") ? vector.get("now_ms").asLong() : vector.get("now").asLong() * 1000;
    TestEnvironment.at(now, null, body);
  }

  static Object open(JsonNode file, JsonNode vector) {
    JsonNode age = vector.get("max_age");
    Duration maxAge = age.isNull() ? null : Duration.ofSeconds(age.asLong());
    return switch (text(vector, "what")) {
      case "sealed" -> sealer(file, vector).open(text(vector, "token"), maxAge);
      case "session_id" -> view(file, vector).verifySessionId(text(vector, "session_id"), maxAge);
      default ->
          view(file, vector).verifyHandle(text(vector, "type"), text(vector, "handle"), maxAge);
    };
  }

  private static void check(Opened opened, JsonNode expected) {
    long issuedAt = expected.get("issued_at").asLong();
    long ttl = expected.get("ttl").asLong();
    assertEquals(text(expected, "payload"), HexFormat.of().formatHex(opened.payload()));
    assertEquals(Instant.ofEpochSecond(issuedAt), opened.issuedAt());
    assertEquals(ttl == 0 ? null : Instant.ofEpochSecond(issuedAt + ttl), opened.expiresAt());
    assertEquals(
        Instant.ofEpochSecond(Math.max(0, issuedAt - expected.get("age").asLong())),
        opened.startedAt());
    assertEquals(expected.get("generation").asLong(), opened.generation());
    assertEquals(text(expected, "token_id"), opened.tokenId());
    assertNotNull(opened.toString());
  }

  // The questions of adapters about a request.

  private static void tokenFields(JsonNode file, JsonNode found) {
    JsonNode expected = found.get("tokenFields");
    String kind = text(expected, "kind");
    assertEquals(
        expected.isNull()
            ? null
            : new TokenFields(
                kind,
                text(expected, "param"),
                text(expected, "result"),
                text(expected, "target"),
                kind.equals("request-state")),
        TokenFields.of(text(found, "method")));
  }

  private static void claims(JsonNode file, JsonNode found) {
    Map<String, Object> claims = JSON.convertValue(found.get("claims"), MEMBERS);
    if (found.has("error")) {
      assertThrows(InvalidArgumentException.class, () -> Principal.fromClaims(claims));
      return;
    }
    List<@Nullable String> parts = JSON.convertValue(found.get("principal"), PARTS);
    assertEquals(
        Principal.of(parts.get(0), parts.get(1), parts.get(2)), Principal.fromClaims(claims));
  }

  /** Only the named arguments count. */
  private static void only(JsonNode file, JsonNode found) {
    Object arguments = JSON.convertValue(found.get("arguments"), Object.class);
    List<String> only = JSON.convertValue(found.get("only"), PARTS);
    if (found.has("error")) {
      assertThrows(
          InvalidArgumentException.class,
          () -> RequestContext.of("tools/call", "x", arguments, only));
      return;
    }
    RequestContext same = RequestContext.ofJson("tools/call", "x", "" + found.get("same"));
    assertEquals(same, RequestContext.of("tools/call", "x", arguments, only));
    assertEquals(same, RequestContext.ofJson("tools/call", "x", "" + found.get("arguments"), only));
  }
}
