package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import tools.jackson.databind.JsonNode;

/**
 * Every vector of tests/vectors, whose tokens were made by another implementation, and of
 * tests/requests.json.
 */
class VectorsTest {
  private static final List<JsonNode> FILES =
      Stream.of("tests/vectors/v1.json", "tests/vectors/more.json", "tests/requests.json")
          .map(Files::json)
          .toList();
  private static final List<String> KINDS =
      List.of("none", "state", "request-state", "session", "cursor", "handle-state");

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
      assertEquals(vector.get("error").asString(), refused.code().toString());
    }
    return vector.has("error");
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
    CodecBuilder settings =
        Codec.builder(vector.get("audience").asString()).keys(KeyRing.parse(keys));
    return TestEnvironment.build(settings).view(principal);
  }

  /** The sealer of any kind, with any fields: a typed sealer has no way to ask for some. */
  private static Sealer sealer(JsonNode file, JsonNode vector) {
    byte[] context = hex(vector.get("context"));
    // All others are custom.
    int kind = KINDS.indexOf(vector.get("kind").asString());
    return view(file, vector)
        .sealer(
            kind < 0 ? 127 : kind,
            vector.get("label").asString(),
            part(vector, "session_id"),
            context.length == 0 ? null : context);
  }

  @TestFactory
  Stream<DynamicTest> keys() {
    return each(
        "keys",
        (file, vector) -> {
          Key key = Key.fromSecret(hex(vector.get("secret")));
          assertEquals(vector.get("text").asString(), key.toText());
          assertEquals(vector.get("kid").asString(), key.id());
          assertEquals(key.id(), Key.parse(vector.get("text").asString()).id());
        });
  }

  @TestFactory
  Stream<DynamicTest> keyRings() {
    return each(
        "key_rings",
        (file, vector) -> {
          String text = vector.get("ring").asString();
          if (!isRefused(vector, () -> KeyRing.parse(text))) {
            assertEquals(ids(vector), KeyRing.parse(text).ids());
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> derivedKeys() {
    return each(
        "derived",
        (file, vector) -> {
          String secret = vector.get("from").asString();
          if (!isRefused(vector, () -> Key.derive(secret))) {
            assertEquals(vector.get("kid").asString(), Key.derive(secret).id());
            assertEquals(vector.get("text").asString(), Key.derive(secret).toText());
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> environments() {
    return each(
        "environments",
        (file, vector) -> {
          Map<String, String> variables = new HashMap<>();
          vector
              .get("variables")
              .propertyStream()
              .forEach(each -> variables.put(each.getKey(), each.getValue().asString()));
          if (isRefused(vector, () -> KeySource.ofEnvironment(variables))) {
            return;
          }
          KeySource source = KeySource.ofEnvironment(variables);
          assertEquals(vector.has("is_file"), source.file() != null);
          if (source.ring() != null) {
            assertEquals(ids(vector), source.ring().ids());
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> sealedTokensComeOutTheSame() {
    return each(
        "sealed",
        (file, vector) -> {
          Sealer sealer = sealer(file, vector);
          byte[] payload = hex(vector.get("payload"));
          long ttl = vector.get("ttl").asLong();
          Lifetime lifetime = ttl == 0 ? Lifetime.noExpiry() : Lifetime.of(Duration.ofSeconds(ttl));
          String token = vector.get("token").asString();
          TestEnvironment.at(
              vector.get("issued_at").asLong() * 1000 + 999,
              hex(vector.get("nonce")),
              () -> {
                Opened opened = sealer.open(token);
                check(opened, vector);
                // Only a renewal has a generation above 0; no call seals a new token of an age
                // above 0.
                long generation = vector.get("generation").asLong();
                if (generation > 0) {
                  Opened before = new Opened(opened.startedAt, opened.generation - 1);
                  assertEquals(token, sealer.renew(before, payload, lifetime));
                } else if (vector.get("age").asLong() == 0) {
                  assertEquals(token, sealer.seal(payload, lifetime));
                }
              });
        });
  }

  @TestFactory
  Stream<DynamicTest> identifiersComeOutTheSame() {
    Check check =
        (file, vector) -> {
          View view = view(file, vector);
          String type = vector.path("type").asString(null);
          String text = vector.get(type == null ? "session_id" : "handle").asString();
          byte[] ulid = hex(vector.get("ulid"));
          long now = vector.get("issued_at_ms").asLong();
          TestEnvironment.at(
              now,
              Arrays.copyOfRange(ulid, 6, 16),
              () -> {
                assertEquals(text, type == null ? view.mintSessionId() : view.mintHandle(type));
                Identifier found =
                    type == null ? view.verifySessionId(text) : view.verifyHandle(type, text);
                assertEquals(text, found.text());
                assertEquals(Instant.ofEpochMilli(now), found.createdAt());
                assertEquals(vector.get("ulid").asString(), found.ulid());
                assertNull(found.endsAt());
                assertFalse(found.needsReseal());
              });
        };
    return Stream.concat(each("session_ids", check), each("handles", check));
  }

  @TestFactory
  Stream<DynamicTest> requestContexts() {
    return each(
        "request_contexts",
        (file, vector) -> {
          String method = vector.get("method").asString();
          String target = vector.get("target").asString();
          String arguments =
              vector.get("arguments").isNull() ? null : vector.get("arguments").asString();
          String expected = vector.get("context").asString();
          assertEquals(expected, RequestContext.ofJson(method, target, arguments).toString());
          if (arguments != null && !arguments.isEmpty()) {
            Object read = Files.JSON.readValue(arguments, Object.class);
            assertEquals(expected, RequestContext.of(method, target, read).toString());
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> requestContextsRefused() {
    return each(
        "request_context_reject",
        (file, vector) -> {
          String method = vector.path("method").asString("tools/call");
          String target = vector.path("target").asString("x");
          String arguments = vector.get("arguments").asString();
          assertTrue(isRefused(vector, () -> RequestContext.ofJson(method, target, arguments)));
        });
  }

  @TestFactory
  Stream<DynamicTest> accepted() {
    return each(
        "accept",
        (file, vector) ->
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
                    assertEquals(expected.get("ulid").asString(), identifier.ulid());
                    assertEquals(isOld, identifier.needsReseal());
                  }
                }));
  }

  @TestFactory
  Stream<DynamicTest> rejected() {
    return each(
        "reject",
        (file, vector) ->
            atItsTime(vector, () -> assertTrue(isRefused(vector, () -> open(file, vector)))));
  }

  static void atItsTime(JsonNode vector, Runnable body) {
    long now =
        vector.has("now_ms") ? vector.get("now_ms").asLong() : vector.get("now").asLong() * 1000;
    TestEnvironment.at(now, null, body);
  }

  static Object open(JsonNode file, JsonNode vector) {
    JsonNode age = vector.get("max_age");
    Duration maxAge = age.isNull() ? null : Duration.ofSeconds(age.asLong());
    return switch (vector.get("what").asString()) {
      case "sealed" -> sealer(file, vector).open(vector.get("token").asString(), maxAge);
      case "session_id" ->
          view(file, vector).verifySessionId(vector.get("session_id").asString(), maxAge);
      default ->
          view(file, vector)
              .verifyHandle(vector.get("type").asString(), vector.get("handle").asString(), maxAge);
    };
  }

  private static void check(Opened opened, JsonNode expected) {
    long issuedAt = expected.get("issued_at").asLong();
    long ttl = expected.get("ttl").asLong();
    assertEquals(expected.get("payload").asString(), HexFormat.of().formatHex(opened.payload()));
    assertEquals(Instant.ofEpochSecond(issuedAt), opened.issuedAt());
    assertEquals(ttl == 0 ? null : Instant.ofEpochSecond(issuedAt + ttl), opened.expiresAt());
    assertEquals(
        Instant.ofEpochSecond(Math.max(0, issuedAt - expected.get("age").asLong())),
        opened.startedAt());
    assertEquals(expected.get("generation").asLong(), opened.generation());
    assertEquals(expected.get("token_id").asString(), opened.tokenId());
    assertNotNull(opened.toString());
  }

  // The questions of adapters about a request.

  private static @Nullable String text(JsonNode node) {
    return node.isNull() ? null : node.asString();
  }

  @TestFactory
  Stream<DynamicTest> methodsCarryWhatTheyCarry() {
    return each(
        "tokenFields",
        (file, found) -> {
          TokenFields fields = TokenFields.of(found.get("method").asString());
          JsonNode expected = found.get("tokenFields");
          if (expected.isNull()) {
            assertNull(fields);
            return;
          }
          String kind = expected.get("kind").asString();
          assertEquals(
              new TokenFields(
                  kind,
                  expected.get("param").asString(),
                  expected.get("result").asString(),
                  text(expected.get("target")),
                  kind.equals("request-state")),
              fields);
        });
  }

  @TestFactory
  Stream<DynamicTest> claimsGiveOnePrincipal() {
    return each(
        "claims",
        (file, found) -> {
          @SuppressWarnings("unchecked")
          Map<String, Object> claims = Files.JSON.convertValue(found.get("claims"), Map.class);
          if (found.has("error")) {
            assertThrows(InvalidArgumentException.class, () -> Principal.fromClaims(claims));
          } else {
            JsonNode parts = found.get("principal");
            assertEquals(
                Principal.of(text(parts.get(0)), text(parts.get(1)), text(parts.get(2))),
                Principal.fromClaims(claims));
          }
        });
  }

  @TestFactory
  Stream<DynamicTest> onlyTheNamedArgumentsCount() {
    return each(
        "only",
        (file, found) -> {
          Object arguments = Files.JSON.convertValue(found.get("arguments"), Object.class);
          List<String> only =
              StreamSupport.stream(found.get("only").spliterator(), false)
                  .map(JsonNode::asString)
                  .toList();
          if (found.has("error")) {
            assertThrows(
                InvalidArgumentException.class,
                () -> RequestContext.of("tools/call", "x", arguments, only));
          } else {
            RequestContext same =
                RequestContext.ofJson("tools/call", "x", found.get("same").toString());
            assertEquals(same, RequestContext.of("tools/call", "x", arguments, only));
            assertEquals(
                same,
                RequestContext.ofJson("tools/call", "x", found.get("arguments").toString(), only));
          }
        });
  }
}
