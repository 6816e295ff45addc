package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.Executable;
import tools.jackson.databind.JsonNode;

/** The questions of adapters about a request: tests/requests.json, for every language. */
class RequestsTest {
  private static final JsonNode CASES = Files.json("tests/requests.json");

  private interface Check {
    void run(JsonNode found);
  }

  private static Stream<DynamicTest> each(String section, Check check) {
    return StreamSupport.stream(CASES.get(section).spliterator(), false)
        .map(found -> DynamicTest.dynamicTest(found.toString(), () -> check.run(found)));
  }

  private static @Nullable String text(JsonNode node) {
    return node.isNull() ? null : node.asString();
  }

  @TestFactory
  Stream<DynamicTest> methodsCarryWhatTheyCarry() {
    return each(
        "tokenFields",
        found -> {
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
        found -> {
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
        found -> {
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

  @Test
  void textsAndNumbersThatLanguagesReadDifferently() {
    for (Object value :
        List.of("\ud800", Double.NaN, Double.POSITIVE_INFINITY, 9007199254740992.0)) {
      refused(() -> RequestContext.of("tools/call", "x", Map.of("a", value)));
    }
    for (String json : List.of("{\"a\":\"\\ud800\"}", "{\"\\udc00\":1}", "{\"a\":\"\ud800\"}")) {
      refused(() -> RequestContext.ofJson("tools/call", "x", json));
    }
    refused(() -> RequestContext.of("tools/call", "x", Map.of("\udfff", 1)));
    refused(() -> RequestContext.of("tools/call", "x", Map.of("a", 1), List.of("\ud800")));
    refused(() -> RequestContext.of("tools/call", "x", Map.of("id", 7), List.of("i\0d")));
    refused(() -> RequestContext.of("tools/call", "\ud800", null));
  }

  private static void refused(Executable call) {
    assertThrows(InvalidArgumentException.class, call);
  }
}
