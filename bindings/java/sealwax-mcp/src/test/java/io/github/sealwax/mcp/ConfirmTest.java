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
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.transport.HttpServletSseServerTransportProvider;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.ClientCapabilities;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult;
import io.modelcontextprotocol.spec.McpSchema.ElicitResult.Action;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import io.modelcontextprotocol.spec.McpServerTransport;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/**
 * The user of a connection is asked while the call waits, by the official client on stateful HTTP;
 * StdioTest has stdio, and the transcripts have the other cases.
 */
@Timeout(60) // What never comes is waited for.
class ConfirmTest {
  private static final Map<String, Object> YES = Map.of("choice", "yes");

  private final TestClock clock = new TestClock(Instant.ofEpochSecond(1_800_000_000));
  private final Codec codec =
      TestCodec.of(
          clock, Codec.builder("https://notes.example.com").keys(KeyRing.of(Key.generate())));
  private final List<String> refusals = new CopyOnWriteArrayList<>();
  private final List<String> ran = new CopyOnWriteArrayList<>();
  private final List<String> asked = new CopyOnWriteArrayList<>();

  private final Guard guard =
      Guard.builder(codec)
          .principal(
              context ->
                  Principal.subject(context.get("user") instanceof String user ? user : "alice"))
          .confirmDestructive()
          .confirm("move_note", arguments -> "Move " + arguments.get("id") + "?")
          .onRefused(refusal -> refusals.add(refusal.code()))
          .build();

  /** Calls tools by the official client, whose user answers so; by nothing, it cannot ask. */
  @SuppressWarnings("deprecation") // It is the SDK's only HTTP that a guard protects with sessions.
  private List<String> called(Action action, String... tools) {
    HttpServletSseServerTransportProvider servlet =
        HttpServletSseServerTransportProvider.builder().messageEndpoint("/message").build();
    var served =
        McpServer.sync(guard.protect(servlet))
            .serverInfo("notes", "1")
            .capabilities(ServerCapabilities.builder().tools(false).build());
    for (String name : List.of("delete_note", "move_note", "read_note")) {
      ToolAnnotations annotations =
          new ToolAnnotations(null, name.equals("read_note"), null, null, null, null);
      served.toolCall(
          Tool.builder(name, Map.of("type", "object")).annotations(annotations).build(),
          (exchange, call) -> {
            ran.add(name + call.arguments());
            return Shop.text("done");
          });
    }
    McpSyncServer server = served.build();
    try (Container container = new Container()) {
      container.place = (request, response) -> servlet.service(request, response);
      var specification =
          McpClient.sync(
              HttpClientSseClientTransport.builder("http://127.0.0.1:" + container.port()).build());
      if (action != null) {
        specification
            .capabilities(ClientCapabilities.builder().elicitation().build())
            .elicitation(
                request -> {
                  asked.add(request.message());
                  // Who declines at once has seen no question.
                  clock.advance(Duration.ofSeconds(action == Action.DECLINE ? 2 : 0));
                  return new ElicitResult(action, action == Action.ACCEPT ? YES : null);
                });
      }
      try (McpSyncClient client = specification.build()) {
        client.initialize();
        return List.of(tools).stream()
            .map(tool -> CallToolRequest.builder(tool).arguments(Map.of("id", 7)).build())
            .map(call -> (TextContent) client.callTool(call).content().get(0))
            .map(TextContent::text)
            .toList();
      } finally {
        server.close();
      }
    }
  }

  @Test
  void theUserAgrees() {
    List<String> told = called(Action.ACCEPT, "read_note", "delete_note", "move_note");
    assertEquals(List.of("done", "done", "done"), told);
    assertEquals(List.of("read_note{id=7}", "delete_note{id=7}", "move_note{id=7}"), ran);
    assertEquals(List.of("Run delete_note with {\"id\":7}?", "Move 7?"), asked);
    assertEquals(List.of(), refusals);
  }

  @ParameterizedTest
  @CsvSource({
    "DECLINE, The user declined. move_note was not run.,",
    "CANCEL, move_note was not run: it needs the user's consent, unconfirmed",
    ", move_note was not run: it needs the user's consent, unconfirmed"
  })
  void nobodyAgrees(Action action, String told, String refused) {
    String text = called(action, "move_note").get(0);
    assertTrue(text.startsWith(told), text);
    assertEquals(List.of(), ran);
    assertEquals(refused == null ? List.of() : List.of(refused), refusals);
  }

  static List<Mono<Map<String, Object>>> noLists() {
    return List.of(Mono.never(), Mono.empty());
  }

  @ParameterizedTest
  @MethodSource("noLists")
  void aListThatIsNoneIsNotWaitedFor(Mono<Map<String, Object>> none) {
    Direct server =
        new Direct(
            guard,
            new Answering(
                context -> {
                  ran.add("list");
                  return none;
                }));
    JSONRPCResponse told =
        server.ask("alice", "tools/call", Map.of("name", "read_note", "arguments", Map.of()));
    assertTrue(told.result().toString().contains("read_note was not run"), told.toString());
    assertEquals(List.of("list"), ran);
    assertEquals(List.of("invalid_argument", "unconfirmed"), refusals);
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

  /** A function that makes a question has no arguments to change, and none is asked if it fails. */
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
    Map<String, Object> params = Map.of("name", "a", "arguments", Map.of("id", 7), "_meta", meta);
    JSONRPCResponse response = server.ask("alice", "tools/call", params);
    assertEquals("Internal error", response.error().message());
    assertEquals(List.of(), ran);
  }
}
