package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientSseClientTransport;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.HttpServletSseServerTransportProvider;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import io.modelcontextprotocol.spec.McpServerTransport;
import io.modelcontextprotocol.spec.McpServerTransportProvider;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

/**
 * The user of a connection is asked while the call waits: by the official client on stateful HTTP,
 * and line by line on stdio. The transcripts have the other cases.
 */
@Timeout(60) // What never comes is waited for.
class ConfirmTest {
  private static final Map<String, Object> YES = Map.of("choice", "yes");
  private static final String DECLINED = "The user declined. delete_note was not run.";
  private static final String UNASKED = "delete_note was not run: it needs the user's consent";

  private final TestClock clock = new TestClock(Instant.ofEpochSecond(1_800_000_000));
  private final Codec codec =
      TestCodec.of(
          clock, Codec.builder("https://notes.example.com").keys(KeyRing.of(Key.generate())));
  private final List<String> refusals = new CopyOnWriteArrayList<>();
  private final List<String> ran = new CopyOnWriteArrayList<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private Guard guard =
      builder()
          .confirm("delete_note", "Delete note {id}?")
          .confirm("move_note", arguments -> "Move " + arguments.get("id") + "?")
          .build();

  private Guard.Builder builder() {
    return Guard.builder(codec)
        .principal(
            context ->
                Principal.subject(context.get("user") instanceof String user ? user : "alice"))
        .onRefused(refusal -> refusals.add(refusal.code()));
  }

  private McpSyncServer serve(McpServerTransportProvider transport) {
    var specification =
        McpServer.sync(guard.protect(transport))
            .serverInfo("notes", "1")
            .capabilities(ServerCapabilities.builder().tools(false).build());
    for (String name : List.of("delete_note", "move_note", "read_note")) {
      ToolAnnotations annotations =
          new ToolAnnotations(null, name.equals("read_note"), null, null, null, null);
      specification.toolCall(
          Tool.builder(name, Map.of("type", "object")).annotations(annotations).build(),
          (exchange, call) -> {
            ran.add(name + call.arguments());
            return CallToolResult.builder().addTextContent("done").build();
          });
    }
    return specification.build();
  }

  /** Calls a tool by the official client, whose user answers so; by nothing, it cannot ask. */
  @SuppressWarnings("deprecation") // It is the SDK's only HTTP that a guard protects with sessions.
  private String called(String tool, Supplier<ElicitResult> user) {
    HttpServletSseServerTransportProvider servlet =
        HttpServletSseServerTransportProvider.builder().messageEndpoint("/message").build();
    McpSyncServer server = serve(servlet);
    try (Container container = new Container()) {
      container.place = (request, response) -> servlet.service(request, response);
      var specification =
          McpClient.sync(
              HttpClientSseClientTransport.builder("http://127.0.0.1:" + container.port()).build());
      if (user != null) {
        specification
            .capabilities(ClientCapabilities.builder().elicitation().build())
            .elicitation(
                request -> {
                  asked.add(request.message());
                  return user.get();
                });
      }
      try (McpSyncClient client = specification.build()) {
        client.initialize();
        CallToolResult result =
            client.callTool(CallToolRequest.builder(tool).arguments(Map.of("id", 7)).build());
        return ((TextContent) result.content().get(0)).text();
      } finally {
        server.close();
      }
    }
  }

  private static ElicitResult answer(ElicitResult.Action action) {
    return new ElicitResult(action, null);
  }

  private static ElicitResult yes() {
    return new ElicitResult(ElicitResult.Action.ACCEPT, YES);
  }

  @Test
  void theUserAgrees() {
    assertEquals("done", called("delete_note", ConfirmTest::yes));
    assertEquals(List.of("delete_note{id=7}"), ran);
    assertEquals(List.of("Delete note 7?"), asked);
    assertEquals(List.of(), refusals);
  }

  @Test
  void theUserDeclines() {
    String told =
        called(
            "delete_note",
            () -> {
              clock.advance(Duration.ofSeconds(2));
              return answer(ElicitResult.Action.DECLINE);
            });
    assertTrue(told.startsWith(DECLINED), told);
    assertEquals(List.of(), ran);
    assertEquals(List.of(), refusals);
  }

  @Test
  void nobodySawIt() {
    String told = called("delete_note", () -> answer(ElicitResult.Action.CANCEL));
    assertTrue(told.startsWith(UNASKED), told);
    assertEquals(List.of(), ran);
    assertEquals(List.of("unconfirmed"), refusals);
  }

  @Test
  void aClientThatCannotAsk() {
    String told = called("delete_note", null);
    assertTrue(told.startsWith(UNASKED), told);
    assertEquals(List.of(), ran);
    assertEquals(List.of("unconfirmed"), refusals);
  }

  @Test
  void anotherToolRunsUnasked() {
    assertEquals("done", called("read_note", ConfirmTest::yes));
    assertEquals(List.of("read_note{id=7}"), ran);
    assertEquals(List.of(), asked);
  }

  @Test
  void whatTheListMarksIsAskedAbout() {
    guard = builder().confirmDestructive().confirm("move_note", "Move {id}?").build();
    for (String tool : List.of("read_note", "delete_note", "move_note")) {
      assertEquals("done", called(tool, ConfirmTest::yes));
    }
    assertEquals(List.of("read_note{id=7}", "delete_note{id=7}", "move_note{id=7}"), ran);
    assertEquals(List.of("Run delete_note with {\"id\":7}?", "Move 7?"), asked);
    assertEquals(List.of(), refusals);
  }

  @Test
  void aListThatHangsIsNotWaitedFor() {
    guard = builder().confirmDestructive().build();
    Direct server =
        new Direct(
            guard,
            new McpStatelessServerHandler() {
              @Override
              public Mono<JSONRPCResponse> handleRequest(
                  McpTransportContext context, JSONRPCRequest request) {
                ran.add(request.method());
                return Mono.never();
              }

              @Override
              public Mono<Void> handleNotification(
                  McpTransportContext context, JSONRPCNotification notification) {
                return Mono.empty();
              }
            });
    JSONRPCResponse told =
        server.ask("alice", "tools/call", Map.of("name", "read_note", "arguments", Map.of()));
    assertTrue(told.result().toString().contains("read_note was not run"), told.toString());
    assertEquals(List.of("tools/list"), ran);
    assertEquals(List.of("invalid_argument", "unconfirmed"), refusals);
  }

  @Test
  void aFunctionMakesTheQuestion() {
    assertEquals("done", called("move_note", ConfirmTest::yes));
    assertEquals(List.of("Move 7?"), asked);
  }

  @Test
  void onStdioOthersAreServedWhileAUserThinks() throws IOException {
    PipedInputStream stdin = new PipedInputStream(1 << 16);
    PipedInputStream heard = new PipedInputStream(1 << 16);
    BufferedReader fromServer =
        new BufferedReader(new InputStreamReader(heard, StandardCharsets.UTF_8));
    StdioServerTransportProvider stdio =
        new StdioServerTransportProvider(
            McpJsonDefaults.getMapper(), stdin, new PipedOutputStream(heard));
    try (OutputStream toServer = new PipedOutputStream(stdin)) {
      McpSyncServer server = serve(stdio);
      say(
          toServer,
          "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
              + "\"capabilities\":{\"elicitation\":{}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
      Json.object(fromServer.readLine());
      say(toServer, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
      for (String answer :
          List.of(
              "\"result\":{\"action\":\"accept\",\"content\":{\"choice\":\"yes\"}}",
              "\"error\":{\"code\":-32601,\"message\":\"Method not found\"}")) {
        say(
            toServer,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"delete_note\","
                + "\"arguments\":{\"id\":7}}}");
        Map<String, Object> question = Json.object(fromServer.readLine());
        assertEquals("elicitation/create", question.get("method"));
        say(toServer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
        assertEquals(2, Json.object(fromServer.readLine()).get("id"));
        say(
            toServer,
            "{\"jsonrpc\":\"2.0\",\"id\":" + Json.write(question.get("id")) + "," + answer + "}");
        assertEquals(1, Json.object(fromServer.readLine()).get("id"));
      }
      assertEquals(List.of("delete_note{id=7}"), ran);
      assertEquals(List.of("unconfirmed"), refusals);
      server.close();
    }
  }

  private static void say(OutputStream toServer, String line) throws IOException {
    toServer.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    toServer.flush();
  }

  /** Keeps what a server sends. */
  private record Sent(List<JSONRPCMessage> messages) implements McpServerTransport {
    @Override
    public Mono<Void> sendMessage(JSONRPCMessage message) {
      return Mono.fromRunnable(() -> messages.add(message));
    }

    @Override
    public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
      return Json.MAPPER.convertValue(data, type);
    }

    @Override
    public Mono<Void> closeGracefully() {
      return Mono.empty();
    }
  }

  private final Sent sent = new Sent(new CopyOnWriteArrayList<>());
  private final Questions questions = new Questions(guard, sent);
  private final Map<String, Object> alice = Caller.document(Principal.subject("alice"));

  private static McpTransportContext by(String user) {
    return McpTransportContext.create(Map.of("user", user));
  }

  @Test
  void nobodyAnswersForAnother() {
    CompletableFuture<Object> answer = questions.ask(Map.of(), alice).toFuture();
    Object id = ((JSONRPCRequest) sent.messages.get(0)).id();
    JSONRPCResponse response = JSONRPCResponse.result(id, YES);
    assertTrue(questions.has(response));
    questions.take(by("bob"), response);
    assertNull(answer.getNow(null));
    questions.take(by("alice"), response);
    assertEquals(YES, answer.getNow(null));
    assertFalse(questions.has(response));
    questions.take(by("alice"), response);
    assertEquals(1, sent.messages.size());
  }

  @Test
  void aClientsErrorIsNoAnswer() {
    CompletableFuture<Object> answer = questions.ask(Map.of(), alice).toFuture();
    Object id = ((JSONRPCRequest) sent.messages.get(0)).id();
    questions.take(
        by("alice"),
        JSONRPCResponse.error(id, new JSONRPCResponse.JSONRPCError(-32601, "Method not found")));
    assertTrue(
        assertThrows(Exception.class, answer::get).getCause() instanceof McpError,
        answer::toString);
  }

  @Test
  void aQuestionThatIsLateIsTakenBack() {
    Mono<Object> late = questions.ask(Map.of(), alice).timeout(Duration.ofMillis(20));
    Throwable failure = assertThrows(RuntimeException.class, late::block);
    assertTrue(failure.getCause() instanceof TimeoutException, failure::toString);
    JSONRPCRequest request = (JSONRPCRequest) sent.messages.get(0);
    JSONRPCNotification cancelled = (JSONRPCNotification) sent.messages.get(1);
    assertEquals("notifications/cancelled", cancelled.method());
    assertEquals(Map.of("requestId", request.id()), cancelled.params());
    assertFalse(questions.has(JSONRPCResponse.result(request.id(), YES)));
  }

  @Test
  void whatCannotBeAskedIsSaid() {
    Guard.Builder builder = Guard.builder(codec).anonymous().confirm("a", "Delete {?");
    assertThrows(InvalidArgumentException.class, builder::build);
    builder.confirm("a", "Delete {id}?").only("a", List.of("name"));
    assertThrows(InvalidArgumentException.class, builder::build);
    assertThrows(IllegalArgumentException.class, () -> builder.preview("b"));
    Duration half = Duration.ofMillis(500);
    assertThrows(InvalidArgumentException.class, () -> builder.confirmTtl(half));
  }

  @Test
  void aFunctionThatThrowsRunsNothing() {
    Guard failing =
        Guard.builder(codec)
            .anonymous()
            .confirm(
                "a",
                arguments -> {
                  arguments.put("id", 8);
                  return "Delete it?";
                })
            .build();
    Direct server =
        new Direct(
            failing,
            (context, request) -> {
              ran.add("a");
              return Map.of();
            });
    Map<String, Object> meta =
        Map.of(
            "io.modelcontextprotocol/protocolVersion",
            "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities",
            Map.of("elicitation", Map.of()));
    JSONRPCResponse response =
        server.ask(
            "alice",
            "tools/call",
            Map.of("name", "a", "arguments", Map.of("id", 7), "_meta", meta));
    assertEquals("Internal error", response.error().message());
    assertEquals(List.of(), ran);
  }
}
