package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Principal;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.handler.Questions;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientSseClientTransport;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.HttpServletSseServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult.Action;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpServerTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/**
 * The SDK's servers of connections behind their guard, on stdio and on stateful HTTP; there a user
 * is asked while a call waits. The transcripts have the other answers.
 */
@Timeout(60) // What never comes is waited for.
class ConnectionsTest extends Guarded {
  private final Shop shop =
      new Shop(codec, builder -> builder.anonymous().confirm("delete", "Delete note {id}?"));
  private OutputStream toServer;
  private BufferedReader fromServer;
  private McpSyncServer server;

  @BeforeEach
  void serve() throws IOException {
    PipedInputStream stdin = new PipedInputStream(1 << 16);
    PipedInputStream heard = new PipedInputStream(1 << 16);
    toServer = new PipedOutputStream(stdin);
    fromServer = new BufferedReader(new InputStreamReader(heard, StandardCharsets.UTF_8));
    server =
        shop.on(
            new StdioServerTransportProvider(
                McpJsonDefaults.getMapper(), stdin, new PipedOutputStream(heard)));
    say(Container.INITIALIZE);
    assertNotNull(hear().get("result"));
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
  }

  @AfterEach
  void leave() throws IOException {
    toServer.close();
    server.close();
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
    call(2, "open", Map.of("basket", 7));
    Map<String, Object> refused = result(hear());
    assertEquals(true, refused.get("isError"));
    call(2, "open", Map.of("basket", handle.replaceFirst(".{5}$", "AAAAA")));
    assertEquals(refused, result(hear()));
    assertEquals(2, shop.refusals.size());

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
    assertEquals(List.of("unconfirmed"), codes(shop.refusals));
  }

  @Test
  void notificationsPassOrAreRefused() throws IOException, InterruptedException {
    server.notifyToolsListChanged();
    assertEquals("notifications/tools/list_changed", hear().get("method"));
    Map<String, Object> params = Map.of("_meta", Map.of(SESSION, Map.of()));
    say(Json.write(Map.of("jsonrpc", "2.0", "method", "notifications/demo", "params", params)));
    while (shop.refusals.isEmpty()) {
      Thread.sleep(5);
    }
    Refusal refusal = shop.refusals.get(0);
    assertEquals("session notifications/demo", refusal.kind() + " " + refusal.method());
  }

  // Stateful HTTP, by the official client.

  private static final Map<String, Object> YES = Map.of("choice", "yes");

  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final Shop asking =
      new Shop(
          codec,
          builder ->
              builder
                  .principal(ConnectionsTest::principal)
                  // This is not about time, and the machine may be busy.
                  .timeLimit(Duration.ofSeconds(60))
                  .confirmDestructive()
                  .confirm(
                      "move",
                      arguments -> {
                        assertThrows(
                            UnsupportedOperationException.class, () -> arguments.put("id", 8));
                        return "Move " + arguments.get("id") + "?";
                      }));

  private static Principal principal(McpTransportContext context) {
    return Principal.subject(context.get("user") instanceof String user ? user : "alice");
  }

  /** Calls tools by the official client, whose user agrees; or it cannot ask. */
  @SuppressWarnings("deprecation") // It is the SDK's only HTTP that a guard protects with sessions.
  private List<String> called(boolean asks, String... tools) {
    HttpServletSseServerTransportProvider servlet =
        HttpServletSseServerTransportProvider.builder().messageEndpoint("/message").build();
    McpSyncServer stateful = asking.on(servlet);
    try (Container container = new Container()) {
      container.place = servlet::service;
      var specification =
          McpClient.sync(
              HttpClientSseClientTransport.builder("http://127.0.0.1:" + container.port()).build());
      if (asks) {
        specification
            .capabilities(ClientCapabilities.builder().elicitation().build())
            .elicitation(
                request -> {
                  asked.add(request.message());
                  return new ElicitResult(Action.ACCEPT, YES);
                });
      }
      try (McpSyncClient client = specification.build()) {
        client.initialize();
        return Stream.of(tools)
            .map(tool -> CallToolRequest.builder(tool).arguments(Map.of("id", 7)).build())
            .map(call -> (TextContent) client.callTool(call).content().get(0))
            .map(TextContent::text)
            .toList();
      } finally {
        stateful.close();
      }
    }
  }

  @Test
  void theUserAgrees() {
    assertEquals(List.of("read", "deleted", "moved"), called(true, "read", "delete", "move"));
    assertEquals(List.of("read{id=7}", "delete{id=7}", "move{id=7}"), asking.ran);
    assertEquals(List.of("Run delete with {\"id\":7}?", "Move 7?"), asked);
    assertEquals(List.of(), asking.refusals);
    // A client that cannot ask is told.
    String text = called(false, "move").get(0);
    assertTrue(text.startsWith("move was not run: it needs the user's consent"), text);
    assertEquals(3, asking.ran.size());
    assertEquals("unconfirmed", asking.refusals.get(0).code());
  }

  @Test
  void aListThatIsNoneIsNotWaitedFor() {
    for (Mono<Map<String, Object>> none :
        List.<Mono<Map<String, Object>>>of(Mono.never(), Mono.empty())) {
      Shop silent = new Shop(codec, builder -> builder.anonymous().confirmDestructive());
      Direct server = Direct.answering(silent.guard, context -> none);
      Map<String, Object> told = server.result("alice", "tools/call", Map.of("name", "read"));
      assertTrue(told.toString().contains("read was not run"), told.toString());
      assertEquals(List.of("invalid_argument", "unconfirmed"), codes(silent.refusals));
    }
  }

  private final List<JSONRPCMessage> sent = new CopyOnWriteArrayList<>();
  private final Questions questions =
      new Questions(
          asking.guard.core(),
          (McpServerTransport)
              Proxy.newProxyInstance(
                  McpServerTransport.class.getClassLoader(),
                  new Class<?>[] {McpServerTransport.class},
                  (proxy, method, given) ->
                      Mono.fromRunnable(() -> sent.add((JSONRPCMessage) given[0]))));
  private final Map<String, Object> alice = Caller.document(Principal.subject("alice"));

  private static McpTransportContext by(String user) {
    return McpTransportContext.create(Map.of("user", user));
  }

  @Test
  void nobodyAnswersForAnother() {
    CompletableFuture<Object> answer = questions.ask(Map.of(), alice).toFuture();
    Object id = ((JSONRPCRequest) sent.get(0)).id();
    JSONRPCResponse response = JSONRPCResponse.result(id, YES);
    assertTrue(questions.has(response));
    questions.take(by("bob"), response);
    assertNull(answer.getNow(null));
    questions.take(by("alice"), response);
    assertEquals(YES, answer.getNow(null));
    assertFalse(questions.has(response));
    questions.take(by("alice"), response);
    assertEquals(1, sent.size());
  }

  @Test
  void aQuestionThatIsLateIsTakenBack() {
    // So does whoever waits no longer.
    questions.ask(Map.of(), alice).subscribe().dispose();
    JSONRPCRequest request = (JSONRPCRequest) sent.get(0);
    JSONRPCNotification cancelled = (JSONRPCNotification) sent.get(1);
    assertEquals("notifications/cancelled", cancelled.method());
    assertEquals(Map.of("requestId", request.id()), cancelled.params());
    assertFalse(questions.has(JSONRPCResponse.result(request.id(), YES)));
  }
}
