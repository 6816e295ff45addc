package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpSyncServerExchange;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageRequest;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The SDK's server on stdio, behind its guard. */
@Timeout(60) // What never comes is waited for.
class StdioTest {
  private static final TypeRef<List<String>> TEXTS = new TypeRef<>() {};
  private static final String SESSION = "io.modelcontextprotocol/session";

  private final BlockingQueue<Refusal> refusals = new LinkedBlockingQueue<>();
  private final Guard guard =
      Guard.builder(Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com"))
          .anonymous()
          .confirm("delete", "Delete note {id}?")
          .onRefused(refusals::add)
          .build();
  private final Sessions<Integer> counters =
      guard.sessions(Sessions.Settings.of(Integer.class, context -> 0));
  private final SelfContainedHandles<List<String>> baskets =
      guard.selfContainedHandles("basket", TEXTS);
  private OutputStream toServer;
  private BufferedReader fromServer;
  private McpSyncServer server;

  @BeforeEach
  void serve() throws IOException {
    PipedInputStream stdin = new PipedInputStream(1 << 16);
    PipedInputStream heard = new PipedInputStream(1 << 16);
    toServer = new PipedOutputStream(stdin);
    fromServer = new BufferedReader(new InputStreamReader(heard, StandardCharsets.UTF_8));
    StdioServerTransportProvider stdio =
        new StdioServerTransportProvider(
            McpJsonDefaults.getMapper(), stdin, new PipedOutputStream(heard));
    server =
        McpServer.sync(guard.protect(stdio, Shop.Pages::new))
            .serverInfo("shop", "1")
            .capabilities(ServerCapabilities.builder().tools(false).build())
            .tools(
                tool(
                    "new",
                    (exchange, call) ->
                        baskets.seal(exchange.transportContext(), List.of()).handle()),
                tool(
                    "open",
                    (exchange, call) ->
                        ""
                            + baskets
                                .open(exchange.transportContext(), call.arguments().get("basket"))
                                .value()),
                tool(
                    "count",
                    (exchange, call) -> {
                      Session<Integer> session = counters.of(exchange.transportContext());
                      int next = session.value() + 1;
                      session.write(next);
                      return "" + next;
                    }),
                tool(
                    "ask",
                    (exchange, call) ->
                        exchange
                            .createMessage(CreateMessageRequest.builder(List.of(), 1).build())
                            .model()),
                tool("delete", (exchange, call) -> "deleted"))
            .build();
    say(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
            + "\"capabilities\":{\"sampling\":{},\"elicitation\":{}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    assertNotNull(hear().get("result"));
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
  }

  @AfterEach
  void leave() throws IOException {
    toServer.close();
    server.close();
  }

  private static SyncToolSpecification tool(
      String name, BiFunction<McpSyncServerExchange, CallToolRequest, String> handler) {
    return new SyncToolSpecification(
        Tool.builder(name, Map.of("type", "object")).build(),
        (exchange, call) -> Shop.text(handler.apply(exchange, call)));
  }

  private void say(String line) throws IOException {
    toServer.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    toServer.flush();
  }

  private Map<String, Object> hear() throws IOException {
    return Json.object(fromServer.readLine());
  }

  private void ask(int id, String method, Map<String, Object> params) throws IOException {
    say(Json.write(Map.of("jsonrpc", "2.0", "id", id, "method", method, "params", params)));
  }

  private void call(int id, String tool, Map<String, Object> arguments) throws IOException {
    ask(id, "tools/call", Map.of("name", tool, "arguments", arguments));
  }

  private static Map<String, Object> result(Map<String, Object> message) {
    return Values.object(message.get("result"));
  }

  private static String text(Map<String, Object> message) {
    return (String) Values.object(Values.list(result(message).get("content")).get(0)).get("text");
  }

  @Test
  void handlesAndCursorsComeBackOrAreRefusedAlike() throws IOException {
    call(1, "new", Map.of());
    String handle = text(hear());
    call(2, "open", Map.of("basket", handle));
    assertEquals("[]", text(hear()));
    List<Map<String, Object>> refused = new ArrayList<>();
    for (Object other : List.of(handle.replaceFirst(".{5}$", "AAAAA"), "basket", 7)) {
      call(2, "open", Map.of("basket", other));
      refused.add(result(hear()));
    }
    assertEquals(1, refused.stream().distinct().count());
    assertEquals(true, refused.get(0).get("isError"));
    assertEquals(3, refusals.size());

    ask(1, "tools/list", Map.of());
    Object cursor = result(hear()).get("nextCursor");
    ask(2, "tools/list", Map.of("cursor", cursor));
    assertEquals(2, Values.list(result(hear()).get("tools")).size());
    ask(3, "tools/list", Map.of("cursor", "2"));
    assertEquals("Invalid cursor", Values.object(hear().get("error")).get("message"));
  }

  @Test
  void aSessionCountsInAnotherProcessToo() throws IOException {
    ask(1, "sessions/create", Map.of());
    Map<String, Object> created = Values.object(result(hear()).get("session"));
    Map<String, Object> session = created;
    for (String count : List.of("1", "2", "3")) {
      Map<String, Object> meta = Map.of(SESSION, session);
      ask(2, "tools/call", Map.of("name", "count", "arguments", Map.of(), "_meta", meta));
      Map<String, Object> answer = hear();
      assertEquals(count, text(answer));
      session = Values.object(Values.object(result(answer).get("_meta")).get(SESSION));
      assertEquals(created.get("sessionId"), session.get("sessionId"));
      // Another connection, of which the server knows nothing.
      leave();
      serve();
    }
  }

  @Test
  void answersAreNotTakenForEachOther() throws IOException {
    // A client may use one id twice, and while its request waits for it.
    call(1, "ask", Map.of());
    Map<String, Object> asked = hear();
    assertEquals("sampling/createMessage", asked.get("method"));
    call(1, "new", Map.of());
    assertTrue(text(hear()).startsWith("sw1."));
    Map<String, Object> made =
        Map.of("role", "assistant", "model", "m", "content", Map.of("type", "text", "text", "t"));
    say(Json.write(Map.of("jsonrpc", "2.0", "id", asked.get("id"), "result", made)));
    assertEquals("m", text(hear()));
  }

  @Test
  void othersAreServedWhileAUserThinks() throws IOException {
    for (String answer :
        List.of(
            "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"yes\"}}",
            "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}")) {
      call(1, "delete", Map.of("id", 7));
      Map<String, Object> question = hear();
      assertEquals("elicitation/create", question.get("method"));
      say("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
      assertEquals(2, hear().get("id"));
      say("{\"jsonrpc\":\"2.0\",\"id\":" + Json.write(question.get("id")) + "," + answer + "}");
      Map<String, Object> called = hear();
      assertEquals(1, called.get("id"));
      assertEquals(answer.startsWith("\"result"), text(called).equals("deleted"));
    }
    assertEquals(List.of("unconfirmed"), refusals.stream().map(Refusal::code).toList());
  }

  @Test
  void notificationsPassOrAreRefused() throws IOException, InterruptedException {
    server.notifyToolsListChanged();
    assertEquals("notifications/tools/list_changed", hear().get("method"));
    Map<String, Object> params = Map.of("_meta", Map.of(SESSION, Map.of()));
    say(Json.write(Map.of("jsonrpc", "2.0", "method", "notifications/demo", "params", params)));
    Refusal refusal = refusals.poll(10, TimeUnit.SECONDS);
    assertNotNull(refusal);
    assertEquals("session notifications/demo", refusal.kind() + " " + refusal.method());
  }
}
