package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever an author's function throws is a refusal, of which the client hears nothing. */
class AuthorsFunctionsTest {
  private static final String SECRET = "hunter2";
  private static final Map<String, Object> NO_PARAMS = Map.of();

  private final Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com");
  private final List<Refusal> refusals = new ArrayList<>();

  static List<Throwable> thrown() {
    // A checked exception comes of Kotlin, Scala or Lombok.
    return List.of(
        new IllegalStateException(SECRET),
        new IOException(SECRET),
        new AssertionError(SECRET),
        new NoClassDefFoundError(SECRET),
        new StackOverflowError(SECRET));
  }

  @BeforeEach
  @AfterEach
  void forget() {
    Log.LINES.clear();
    Log.failure = null;
  }

  private Guard guard(UnaryOperator<Guard.Builder> more) {
    return more.apply(Guard.builder(codec).anonymous().onRefused(refusals::add)).build();
  }

  private static Direct listing(Guard guard) {
    return new Direct(guard, (context, request) -> Map.of("nextCursor", "2"));
  }

  private static <T> T thrower(Throwable thrown) {
    Log.<RuntimeException>sneakily(thrown);
    return null;
  }

  private void refusedAs(JSONRPCResponse answer, Throwable thrown) {
    refusedAs(answer, thrown.getClass().getSimpleName());
  }

  private void refusedAs(JSONRPCResponse answer, String said) {
    assertEquals("Internal error", answer.error().message());
    assertNull(answer.error().data());
    assertEquals(1, refusals.size());
    Refusal refusal = refusals.get(0);
    assertTrue(refusal.isError());
    assertTrue(refusal.message().contains(said), refusal.message());
    assertFalse(("" + refusals + Log.LINES).contains(SECRET));
    assertEquals(1, Log.LINES.size());
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofPrincipal(Throwable thrown) {
    Guard guard = guard(it -> it.principal(context -> thrower(thrown)));
    refusedAs(listing(guard).ask("a", "tools/list", NO_PARAMS), thrown);
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofTheFirstValueOfASession(Throwable thrown) {
    Guard guard = guard(it -> it);
    guard.sessions(Sessions.Settings.of(Object.class, context -> thrower(thrown)));
    refusedAs(listing(guard).ask("a", "sessions/create", NO_PARAMS), thrown);
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofALedger(Throwable thrown) {
    refusedAsLedger(command -> thrower(thrown), thrown);
    refusedAsLedger(command -> CompletableFuture.failedFuture(thrown), thrown);
  }

  @Test
  void aLedgerThatAnswersNothing() {
    Ledger ledger = command -> CompletableFuture.completedFuture(null);
    refusedAsLedger(ledger, "expected a reply as LEDGER.md specifies");
  }

  private void refusedAsLedger(Ledger ledger, Throwable thrown) {
    refusedAsLedger(ledger, thrown.getClass().getSimpleName());
  }

  private void refusedAsLedger(Ledger ledger, String said) {
    Guard guard = guard(it -> it.ledger(ledger));
    guard.sessions(Sessions.Settings.of(Object.class, context -> 1));
    Direct server = listing(guard);
    Object session =
        Values.object(server.ask("a", "sessions/create", NO_PARAMS).result()).get("session");
    refusals.clear();
    Log.LINES.clear();
    Map<String, Object> params =
        Map.of("_meta", Map.of("io.modelcontextprotocol/session", session));
    refusedAs(server.ask("a", "tools/call", params), said);
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofHooks(Throwable thrown) {
    Guard guard =
        guard(it -> it.onRefused(refusal -> thrower(thrown)).onEvent(event -> thrower(thrown)));
    Direct server = listing(guard);
    Object sealed = Values.object(server.ask("a", "tools/list", NO_PARAMS).result());
    assertNotNull(Values.object(sealed).get("nextCursor"));
    JSONRPCResponse refused = server.ask("a", "tools/list", Map.of("cursor", "2"));
    assertEquals("Invalid cursor", refused.error().message());
    assertTrue(
        Log.LINES.stream().anyMatch(line -> line.contains("onRefused")), () -> "" + Log.LINES);
    assertFalse(("" + Log.LINES).contains(SECRET), () -> "" + Log.LINES);
  }

  /** Jackson quotes the value, and the SDK logs what a handler throws. */
  @Test
  void ofAValueOfAnotherType() {
    IllegalArgumentException thrown =
        assertThrows(
            IllegalArgumentException.class,
            () -> Json.value("\"" + SECRET + "\"", Types.of(Integer.class)));
    assertNull(thrown.getCause());
    assertFalse(thrown.getMessage().contains(SECRET), thrown::getMessage);
    assertTrue(thrown.getMessage().startsWith("value: expected JSON of java.lang.Integer"));
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofALogger(Throwable thrown) {
    Direct server = listing(guard(it -> it));
    Log.failure = thrown;
    JSONRPCResponse refused = server.ask("a", "tools/list", Map.of("cursor", "2"));
    assertEquals("Invalid cursor", refused.error().message());
    assertEquals(1, refusals.size());
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void overHttp(Throwable thrown) throws IOException, InterruptedException {
    Guard failing = guard(it -> it.principal(context -> thrower(thrown)));
    Guard sound = guard(it -> it.principal(context -> Principal.subject("alice")));
    HttpServletStatelessServerTransport servlet =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
            .build();
    McpServer.sync(failing.protect(servlet))
        .serverInfo("s", "1")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .build();
    SealwaxFilter asking = SealwaxFilter.builder(failing).build();
    SealwaxFilter extracting =
        SealwaxFilter.builder(sound).contextExtractor(request -> thrower(thrown)).build();
    try (Container container = new Container()) {
      for (Container.Place place :
          List.<Container.Place>of(
              servlet::service,
              (request, response) -> asking.doFilter(request, response, servlet::service),
              (request, response) -> extracting.doFilter(request, response, servlet::service))) {
        refusals.clear();
        container.place = place;
        for (String message : List.of(INITIALIZE, CALL)) {
          String told = answer(container.port(), message);
          assertFalse(told.contains(SECRET) || told.contains("Exception"), told);
        }
        assertTrue(refusals.get(0).message().contains(thrown.getClass().getSimpleName()));
      }
    }
  }

  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
          + "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
  private static final String CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}";

  private static String answer(int port, String message) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/mcp"))
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(message))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }
}
