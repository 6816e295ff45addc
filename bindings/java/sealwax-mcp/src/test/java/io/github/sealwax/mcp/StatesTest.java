package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Code;
import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.SealwaxException;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What cannot be a {@code requestState} reaches the handler, the log and the model. */
class StatesTest {
  private static final String LARGE = "x".repeat(2000);

  private final List<Refusal> refusals = new ArrayList<>();

  private final Guard guard =
      Guard.builder(Codec.builder("a").keys(KeyRing.of(Key.generate())).payloadLimit(1024).build())
          .principal(context -> Principal.subject((String) context.get("user")))
          .onRefused(refusals::add)
          .build();

  private JSONRPCResponse call(
      Map<String, Object> arguments,
      BiFunction<McpTransportContext, JSONRPCRequest, Map<String, Object>> handler) {
    return new Direct(guard, handler)
        .ask("alice", "tools/call", Map.of("name", "large", "arguments", arguments));
  }

  private void refusedOnce(String code) {
    refusedOnce(code, "tools/call");
  }

  private void refusedOnce(String code, String method) {
    assertEquals(1, refusals.size(), () -> "" + refusals);
    Refusal refusal = refusals.get(0);
    assertEquals(code, refusal.code());
    assertEquals("request-state", refusal.kind());
    assertEquals(method, refusal.method());
    assertEquals("large", refusal.target());
    assertEquals(Principal.subject("alice"), refusal.principal());
  }

  @Test
  void tooLargeAndTheHandlerCatchesIt() {
    JSONRPCResponse answer =
        call(
            Map.of(),
            (context, request) -> {
              SealwaxException failure =
                  assertThrows(SealwaxException.class, () -> guard.state(context, LARGE));
              assertEquals(Code.TOO_LARGE, failure.code());
              return Map.of("caught", true);
            });
    assertEquals(true, Values.object(answer.result()).get("caught"));
    refusedOnce("too_large");
  }

  @Test
  void tooLargeAndTheHandlerDoesNot() {
    JSONRPCResponse answer =
        call(Map.of(), (context, request) -> Map.of("requestState", guard.state(context, LARGE)));
    assertEquals(true, Values.object(answer.result()).get("isError"));
    refusedOnce("too_large");
  }

  @Test
  void tooLargeInAPromptWhichHasNoResultForThat() {
    JSONRPCResponse answer =
        new Direct(guard, (context, request) -> Map.of("requestState", guard.state(context, LARGE)))
            .ask("alice", "prompts/get", Map.of("name", "large"));
    assertEquals("Internal error", answer.error().message());
    refusedOnce("too_large", "prompts/get");
  }

  @ParameterizedTest
  @ValueSource(strings = {"9007199254740993", "6.02214076e23", "[{\"b\":-1e400}]", "\"\\ud800\""})
  void ofArgumentsThatItCannotBeBoundTo(String id) {
    Map<String, Object> arguments = Json.object("{\"id\":" + id + "}");
    JSONRPCResponse stateless = call(arguments, (context, request) -> Map.of("done", true));
    assertNull(stateless.error());
    assertEquals(true, Values.object(stateless.result()).get("done"));
    assertEquals(List.of(), refusals);

    JSONRPCResponse answer =
        call(arguments, (context, request) -> Map.of("requestState", guard.state(context, "x")));
    assertEquals(true, Values.object(answer.result()).get("isError"));
    String told = Json.write(Values.object(answer.result()).get("content"));
    assertTrue(told.contains("argument") && told.contains("id"), told);
    refusedOnce("invalid_argument");
  }
}
