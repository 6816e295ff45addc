package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import reactor.core.publisher.Mono;

/** The transcripts of tests/vectors/guard.json, at the guard's own hooks. */
class TranscriptsTest {
  private static final Container CONTAINER = new Container();

  @AfterAll
  static void stop() {
    CONTAINER.close();
  }

  /** What this SDK cannot have, beside what its language cannot. */
  private static final Set<String> NOT =
      Set.of(
          // There is no session to write to.
          "session: writing where there is none is the author's mistake",
          // HttpServlet answers it by itself.
          "header: OPTIONS is the server's own business");

  static List<Map<String, Object>> transcripts() {
    return World.list(World.FILE.get("transcripts")).stream()
        .map(World::object)
        .filter(one -> !NOT.contains(one.get("name")))
        .filter(one -> World.list(one.get("events")).stream().noneMatch(TranscriptsTest::isOnStdio))
        .toList();
  }

  /** SEP-1359 on stdio is not served: the SDK drops its member of a message. */
  private static boolean isOnStdio(Object event) {
    return "stdio".equals(World.object(event).get("via"));
  }

  @Test
  void thereAreEnough() {
    assertTrue(transcripts().size() >= 300);
  }

  @TestFactory
  List<DynamicTest> aGuardDoesAsTheTranscriptSays() {
    return transcripts().stream()
        .map(one -> dynamicTest((String) one.get("name"), () -> play(one)))
        .toList();
  }

  private static void play(Map<String, Object> transcript) {
    try (Playing playing =
        new Playing(
            transcript,
            CONTAINER.port(),
            false,
            (mine, guard, transport) ->
                guard.protect(transport).setMcpHandler(new Scripted(mine)))) {
      CONTAINER.place = playing::serve;
      playing.play(World.list(transcript.get("events")));
    }
  }

  /** A handler of any method. */
  private record Scripted(Playing playing) implements McpStatelessServerHandler {
    private static final Map<String, Object> INITIALIZED =
        Map.of(
            "protocolVersion", "2025-11-25",
            "capabilities", Map.of(),
            "serverInfo", Map.of("name", "s", "version", "1"));

    @Override
    public Mono<JSONRPCResponse> handleRequest(
        McpTransportContext context, JSONRPCRequest request) {
      return Mono.fromCallable(
          () -> {
            playing.seen(context, request.method(), request.params());
            try {
              Map<String, Object> returned = playing.run(context);
              boolean begins = request.method().equals("initialize");
              return JSONRPCResponse.result(request.id(), begins ? INITIALIZED : returned);
            } catch (McpError e) {
              return JSONRPCResponse.error(request.id(), e.getJsonRpcError());
            }
          });
    }

    @Override
    public Mono<Void> handleNotification(
        McpTransportContext context, JSONRPCNotification notification) {
      return Mono.fromRunnable(
          () -> {
            playing.seen(context, notification.method(), notification.params());
            playing.run(context);
          });
    }
  }
}
