package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.internal.Frame;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Whatever becomes of a request, its exchange is freed. */
class LeaksTest extends Guarded {
  private static final int MANY = 300;
  private static final Map<String, Object> PLAY = Map.of("name", "play");

  private Guard guard =
      builder()
          .anonymous()
          .ledger(command -> new CompletableFuture<>())
          .timeLimit(Duration.ofMillis(1))
          .build();
  private final ReferenceHandles rows = guard.referenceHandles("row");

  private static void often(Runnable body) {
    for (int at = 0; at < MANY; at++) {
      body.run();
    }
  }

  @AfterEach
  void allAreFreed() {
    // What waits to be freed is freed by the next calls.
    guard
        .core()
        .engine()
        .report(Map.of("code", "invalid_argument", "kind", "session", "message", ""));
    assertTrue(counting.begun.get() >= MANY, () -> "" + counting.begun);
    assertEquals(counting.begun.get(), counting.freed.get());
  }

  @Test
  void whatIsAnsweredOrRefused() {
    Direct server = Direct.serving(guard, context -> Map.of("row", rows.mint(context).handle()));
    often(() -> assertNotNull(server.ask("a", "tools/call", PLAY).result()));
    assertEquals(2 * MANY, counting.begun.get());
    Map<String, Object> noCursor = Map.of("cursor", "no cursor");
    often(() -> assertNotNull(server.ask("a", "tools/list", noCursor).error()));
  }

  @Test
  void whatFails() {
    Direct server =
        Direct.answering(guard, context -> Mono.error(new IllegalStateException("handler")));
    often(
        () -> assertThrows(IllegalStateException.class, () -> server.ask("a", "tools/call", PLAY)));
  }

  @Test
  void whatIsCancelledWhileItsHandlerRuns() {
    AtomicReference<McpTransportContext> last = new AtomicReference<>();
    Direct server =
        Direct.answering(
            guard,
            context -> {
              last.set(context);
              return Mono.never();
            });
    often(() -> server.asking("a", "tools/call", PLAY).subscribe().dispose());
    // What its handler does afterwards is an error.
    assertThrows(IllegalStateException.class, () -> rows.mint(last.get()));
  }

  @Test
  void whatWaitsForALedgerThatNeverAnswers() {
    Direct server =
        Direct.serving(
            guard,
            context -> Map.of("row", rows.check(context, rows.mint(context).handle()).handle()));
    often(() -> assertNotNull(server.ask("a", "tools/call", PLAY).result()));
  }

  @Test
  void whatComesThroughTheFilter() throws Exception {
    Shop shop = new Shop(codec, it -> it);
    guard = shop.guard;
    try (Container container = new Container()) {
      container.place = shop.onHttp();
      for (int at = 0; at < MANY; at++) {
        var answer = container.post(Container.INITIALIZE, "X-User", "alice");
        assertEquals(200, answer.statusCode());
      }
    }
  }

  @Test
  void whatLivedInABrokenInstanceFailsAndTheNextIsServed() {
    Direct server = Direct.serving(guard, context -> Map.of("nextCursor", "2"));
    often(() -> assertNotNull(server.ask("a", "tools/list", Map.of()).result()));
    counting.breaks = Frame.RESULT;
    assertEquals("Internal error", server.ask("a", "tools/list", Map.of()).error().message());
    // Its memory went with the instance.
    counting.freed.incrementAndGet();
    assertNotNull(server.ask("a", "tools/list", Map.of()).result());
  }
}
