package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Library;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Whatever becomes of a request, its exchange is freed. */
class LeaksTest {
  private static final int MANY = 1000;

  private final Counting counting = new Counting();
  private final Codec codec =
      Access.build(
          Codec.builder("https://mcp.example.com").keys(KeyRing.of(Key.generate())),
          Library.of(counting, 2));
  private final AtomicReference<McpTransportContext> last = new AtomicReference<>();
  private McpStatelessServerHandler handler;
  private Guard guard;

  /** Serves what {@code handling} gives, in the handler's context. */
  private void serve(
      UnaryOperator<Guard.Builder> more,
      java.util.function.Function<McpTransportContext, Mono<Map<String, Object>>> handling) {
    guard = more.apply(Guard.builder(codec).anonymous()).build();
    guard
        .protect(
            new McpStatelessServerTransport() {
              @Override
              public void setMcpHandler(McpStatelessServerHandler guarded) {
                handler = guarded;
              }

              @Override
              public Mono<Void> closeGracefully() {
                return Mono.empty();
              }
            })
        .setMcpHandler(
            new McpStatelessServerHandler() {
              @Override
              public Mono<JSONRPCResponse> handleRequest(
                  McpTransportContext context, JSONRPCRequest request) {
                last.set(context);
                return Mono.defer(() -> handling.apply(context))
                    .map(result -> JSONRPCResponse.result(request.id(), result));
              }

              @Override
              public Mono<Void> handleNotification(
                  McpTransportContext context, JSONRPCNotification notification) {
                return Mono.empty();
              }
            });
  }

  private Mono<JSONRPCResponse> call() {
    return handler.handleRequest(
        McpTransportContext.EMPTY, new JSONRPCRequest("tools/call", 1, Map.of("name", "play")));
  }

  private Mono<JSONRPCResponse> list(String cursor) {
    return handler.handleRequest(
        McpTransportContext.EMPTY, new JSONRPCRequest("tools/list", 1, Map.of("cursor", cursor)));
  }

  @AfterEach
  void allAreFreed() {
    // What waits to be freed is freed by the next crossings.
    guard.engine().report(Map.of("code", "invalid_argument", "kind", "session", "message", ""));
    assertTrue(counting.begun.get() >= MANY, () -> "" + counting.begun);
    assertEquals(counting.begun.get(), counting.freed.get());
  }

  @Test
  void whatIsAnswered() {
    serve(
        it -> it,
        context ->
            Mono.just(Map.of("content", guard.referenceHandles("row").mint(context).handle())));
    for (int at = 0; at < MANY; at++) {
      assertNotNull(call().block().result());
    }
    assertEquals(2 * MANY, counting.begun.get());
  }

  @Test
  void whatIsRefused() {
    serve(it -> it, context -> Mono.just(Map.of()));
    for (int at = 0; at < MANY; at++) {
      assertNotNull(list("no cursor").block().error());
    }
  }

  @Test
  void whatFails() {
    serve(it -> it, context -> Mono.error(new IllegalStateException("handler")));
    for (int at = 0; at < MANY; at++) {
      assertThrows(IllegalStateException.class, call()::block);
    }
  }

  @Test
  void whatIsCancelledWhileItsHandlerRuns() {
    serve(it -> it, context -> Mono.never());
    for (int at = 0; at < MANY; at++) {
      Disposable running = call().subscribe();
      running.dispose();
    }
    // What its handler does afterwards is an error.
    ReferenceHandles rows = guard.referenceHandles("row");
    assertThrows(IllegalStateException.class, () -> rows.mint(last.get()));
  }

  @Test
  void whatWaitsForALedgerThatNeverAnswers() {
    Ledger silent = command -> new CompletableFuture<>();
    serve(
        it -> it.ledger(silent).timeLimit(java.time.Duration.ofMillis(1)),
        context ->
            Mono.fromCallable(
                () -> Map.of("content", guard.referenceHandles("row").check(context, "row_x"))));
    for (int at = 0; at < MANY; at++) {
      try {
        call().block();
      } catch (HandleRefused refused) {
        assertNotNull(refused.code());
      }
    }
  }

  @Test
  void whatComesThroughTheFilter() throws Exception {
    Shop shop = new Shop(codec, it -> it, it -> it);
    guard = shop.guard;
    String body =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
            + "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
    try (Container container = new Container()) {
      container.place = shop;
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + container.port() + "/mcp"))
              .header("Accept", "application/json, text/event-stream")
              .header("Content-Type", "application/json")
              .header("X-User", "alice")
              .POST(HttpRequest.BodyPublishers.ofString(body))
              .build();
      HttpClient client = HttpClient.newHttpClient();
      for (int at = 0; at < MANY; at++) {
        assertEquals(
            200, client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode());
      }
    }
  }

  @Test
  void whatLivedInABrokenInstanceFailsAndTheNextIsServed() {
    serve(it -> it, context -> Mono.just(Map.of("nextCursor", "2")));
    for (int at = 0; at < MANY; at++) {
      assertNotNull(list0().block().result());
    }
    counting.breaks = Frame.RESULT;
    assertEquals("Internal error", list0().block().error().message());
    // Its memory went with the instance.
    counting.freed.incrementAndGet();
    assertNotNull(list0().block().result());
  }

  private Mono<JSONRPCResponse> list0() {
    return handler.handleRequest(
        McpTransportContext.EMPTY, new JSONRPCRequest("tools/list", 1, Map.of()));
  }
}
