package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The SDK's server on stdio, behind its guard. */
@Timeout(20) // What never comes is waited for.
class StdioTest {
  private static final TypeRef<List<String>> TEXTS = new TypeRef<>() {};

  private final BlockingQueue<Refusal> refusals = new LinkedBlockingQueue<>();
  private final Guard guard =
      Guard.builder(
              Codec.builder("https://mcp.example.com").keys(KeyRing.of(Key.generate())).build())
          .anonymous()
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
                        Shop.text(baskets.seal(exchange.transportContext(), List.of()).handle())),
                tool(
                    "add",
                    (exchange, call) ->
                        Shop.text(
                            ""
                                + baskets
                                    .open(
                                        exchange.transportContext(), call.arguments().get("basket"))
                                    .value())),
                tool(
                    "count",
                    (exchange, call) -> {
                      Session<Integer> session = counters.of(exchange.transportContext());
                      int next = session.value() + 1;
                      session.write(next);
                      return Shop.text("" + next);
                    }),
                tool(
                    "ask",
                    (exchange, call) ->
                        Shop.text(
                            exchange
                                .createMessage(CreateMessageRequest.builder(List.of(), 1).build())
                                .model())))
            .build();
    say(
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
            + "\"capabilities\":{\"sampling\":{}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    assertNotNull(hear().get("result"));
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
  }

  @AfterEach
  void leave() throws IOException {
    toServer.close();
    server.close();
  }

  private static SyncToolSpecification tool(
      String name,
      java.util.function.BiFunction<
              io.modelcontextprotocol.server.McpSyncServerExchange,
              io.modelcontextprotocol.spec.McpSchema.CallToolRequest,
              io.modelcontextprotocol.spec.McpSchema.CallToolResult>
          handler) {
    return new SyncToolSpecification(Tool.builder(name, Map.of("type", "object")).build(), handler);
  }

  private void say(String line) throws IOException {
    toServer.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    toServer.flush();
  }

  private Map<String, Object> hear() throws IOException {
    return Json.object(fromServer.readLine());
  }

  private void call(int id, String tool, Map<String, Object> arguments) throws IOException {
    Map<String, Object> params = Map.of("name", tool, "arguments", arguments);
    say(Json.write(Map.of("jsonrpc", "2.0", "id", id, "method", "tools/call", "params", params)));
  }

  private static String text(Map<String, Object> message) {
    Map<String, Object> result = Values.object(message.get("result"));
    return (String) Values.object(Values.list(result.get("content")).get(0)).get("text");
  }

  @Test
  void aHandleComesBack() throws IOException {
    call(1, "new", Map.of());
    String handle = text(hear());
    assertTrue(handle.startsWith("sw1."), handle);
    call(2, "add", Map.of("basket", handle));
    assertEquals("[]", text(hear()));
  }

  @Test
  void whatIsRefusedLooksAlike() throws IOException {
    call(1, "new", Map.of());
    String altered = text(hear()).replaceFirst(".{5}$", "AAAAA");
    List<Map<String, Object>> refused = new ArrayList<>();
    for (Object handle : List.of(altered, "basket", 7)) {
      call(2, "add", Map.of("basket", handle));
      refused.add(Values.object(hear().get("result")));
    }
    assertEquals(1, refused.stream().distinct().count());
    assertEquals(true, refused.get(0).get("isError"));
    assertEquals(3, refusals.size());
  }

  @Test
  void cursorsAreSealedAndComeBack() throws IOException {
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    Map<String, Object> first = Values.object(hear().get("result"));
    assertEquals(2, Values.list(first.get("tools")).size());
    assertTrue(((String) first.get("nextCursor")).startsWith("sw1."));
    Map<String, Object> params = Map.of("cursor", first.get("nextCursor"));
    say(Json.write(Map.of("jsonrpc", "2.0", "id", 2, "method", "tools/list", "params", params)));
    Map<String, Object> last = Values.object(hear().get("result"));
    assertEquals(2, Values.list(last.get("tools")).size());
    assertFalse(last.containsKey("nextCursor"));
  }

  @Test
  void aCursorThatIsNotSealedIsRefused() throws IOException {
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"2\"}}");
    assertEquals("Invalid cursor", Values.object(hear().get("error")).get("message"));
  }

  @Test
  void aSessionCountsInAnotherProcessToo() throws IOException {
    say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sessions/create\",\"params\":{}}");
    Map<String, Object> created = Values.object(Values.object(hear().get("result")).get("session"));
    Map<String, Object> session = created;
    for (String count : List.of("1", "2", "3")) {
      Map<String, Object> meta = Map.of(SESSION, session);
      Map<String, Object> params = Map.of("name", "count", "arguments", Map.of(), "_meta", meta);
      say(Json.write(Map.of("jsonrpc", "2.0", "id", 2, "method", "tools/call", "params", params)));
      Map<String, Object> answer = hear();
      assertEquals(count, text(answer));
      session =
          Values.object(
              Values.object(Values.object(answer.get("result")).get("_meta")).get(SESSION));
      assertEquals(created.get("sessionId"), session.get("sessionId"));
      // Another connection, of which the server knows nothing.
      leave();
      serve();
    }
  }

  private static final String SESSION = "io.modelcontextprotocol/session";

  @Test
  void answersAreNotTakenForEachOther() throws IOException {
    // A client may use one id twice, and while its request waits for it.
    call(1, "ask", Map.of());
    Map<String, Object> asked = hear();
    assertEquals("sampling/createMessage", asked.get("method"));
    call(1, "new", Map.of());
    String handle = text(hear());
    assertFalse(handle.isEmpty());
    Map<String, Object> made =
        Map.of("role", "assistant", "model", "m", "content", Map.of("type", "text", "text", "t"));
    say(Json.write(Map.of("jsonrpc", "2.0", "id", asked.get("id"), "result", made)));
    assertEquals("m", text(hear()));
  }

  @Test
  void theServersOwnNotificationsReachTheClient() throws IOException {
    server.notifyToolsListChanged();
    assertEquals("notifications/tools/list_changed", hear().get("method"));
  }

  @Test
  void aNotificationWhoseSessionIsNotGoodIsRefused() throws IOException, InterruptedException {
    Map<String, Object> params = Map.of("_meta", Map.of(SESSION, Map.of()));
    say(Json.write(Map.of("jsonrpc", "2.0", "method", "notifications/demo", "params", params)));
    Refusal refusal = refusals.poll(10, TimeUnit.SECONDS);
    assertNotNull(refusal);
    assertEquals("session notifications/demo", refusal.kind() + " " + refusal.method());
  }
}
