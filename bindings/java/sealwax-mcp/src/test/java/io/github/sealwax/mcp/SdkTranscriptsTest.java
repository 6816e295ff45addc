package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import reactor.core.publisher.Mono;

/**
 * The transcripts that a server of the SDK can serve, on one in Tomcat, as clients of its last
 * revision send them: it knows none of 2026-07-28.
 */
class SdkTranscriptsTest {
  private static final Container CONTAINER = new Container();

  /** What a tool's result of the SDK has. */
  private static final Set<String> MEMBERS =
      Set.of("content", "structuredContent", "isError", "_meta");

  private static final Set<String> METHODS =
      Set.of(
          "tools/call",
          "tools/list",
          "initialize",
          "ping",
          "sessions/create",
          "sessions/delete",
          "session/terminate");

  @AfterAll
  static void stop() {
    CONTAINER.close();
  }

  private static List<Map<String, Object>> transcripts() {
    return TranscriptsTest.transcripts().stream()
        .filter(
            one -> World.list(one.get("events")).stream().allMatch(SdkTranscriptsTest::isServed))
        .map(one -> World.object(asOfLegacy(one)))
        .toList();
  }

  /** Returns a transcript without what its last revision does not have. */
  private static Object asOfLegacy(Object value) {
    if (value instanceof List<?> items) {
      return items.stream().map(SdkTranscriptsTest::asOfLegacy).toList();
    }
    if (!(value instanceof Map)) {
      return value;
    }
    Map<String, Object> changed = new LinkedHashMap<>();
    World.object(value).forEach((name, member) -> changed.put(name, asOfLegacy(member)));
    changed.computeIfPresent("era", (name, era) -> "legacy");
    changed.remove("resultType");
    return changed;
  }

  private static boolean isServed(Object one) {
    Map<String, Object> event = World.object(one);
    Map<String, Object> message = World.object(event.get("message"));
    Object method = message.get("method");
    boolean isKnown = method == null || METHODS.contains(method);
    boolean isTool = "tools/call".equals(method);
    // In its revisions the header is not that of a data-layer session.
    return isKnown
        && !event.containsKey("header")
        && World.list(event.get("handler")).stream()
            .allMatch(operation -> !isTool || isExpressible(World.list(operation)))
        && World.list(event.get("during")).stream().allMatch(SdkTranscriptsTest::isServed);
  }

  private static boolean isExpressible(List<Object> operation) {
    return !operation.get(0).equals("return")
        || (World.object(operation.get(1)).containsKey("content")
            && MEMBERS.containsAll(World.object(operation.get(1)).keySet()));
  }

  @Test
  void thereAreEnough() {
    assertTrue(transcripts().size() >= 150, () -> transcripts().size() + " transcripts");
  }

  @TestFactory
  List<DynamicTest> aServerDoesAsTheTranscriptSays() {
    return transcripts().stream()
        .map(one -> dynamicTest((String) one.get("name"), () -> play(one)))
        .toList();
  }

  private static void play(Map<String, Object> transcript) {
    try (Playing playing =
        new Playing(transcript, CONTAINER.port(), true, SdkTranscriptsTest::server)) {
      CONTAINER.place = playing::serve;
      playing.play(World.list(transcript.get("events")));
    }
  }

  private static void server(Playing playing, Guard guard, McpStatelessServerTransport transport) {
    Tool play = Tool.builder("play", Map.of("type", "object")).build();
    McpServer.sync(guard.protect(transport, server -> new Between(playing, server)))
        .serverInfo("play", "1")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .tools(
            new SyncToolSpecification(
                play,
                (context, call) ->
                    Json.MAPPER.convertValue(playing.run(context), CallToolResult.class)))
        .build();
  }

  /**
   * Between the guard and the server: sees what is delivered, and makes pages, which the SDK does
   * not.
   */
  private record Between(Playing playing, McpStatelessServerHandler server)
      implements McpStatelessServerHandler {
    @Override
    public Mono<JSONRPCResponse> handleRequest(
        McpTransportContext context, JSONRPCRequest request) {
      return Mono.defer(
          () -> {
            playing.seen(context, request.method(), request.params());
            return request.method().equals("tools/list")
                ? Mono.fromCallable(
                    () -> JSONRPCResponse.result(request.id(), playing.run(context)))
                : server.handleRequest(context, request);
          });
    }

    @Override
    public Mono<Void> handleNotification(
        McpTransportContext context, JSONRPCNotification notification) {
      return server.handleNotification(context, notification);
    }
  }
}
