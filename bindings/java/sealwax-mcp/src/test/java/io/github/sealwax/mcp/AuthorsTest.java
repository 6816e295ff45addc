package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Principal;
import io.github.sealwax.mcp.internal.Json;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What an author sets, in the types of Java; and whatever an author's function throws is a refusal,
 * of which the client hears nothing.
 */
class AuthorsTest extends Guarded {
  private static final String SECRET = "hunter2";
  private static final Duration HALF = Duration.ofMillis(500);
  private static final Principal ALICE = Principal.subject("alice");
  private static final Map<String, Object> NO_CURSOR = Map.of("cursor", "2");

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
    refusals.clear();
    Log.LINES.clear();
    Log.failure = null;
  }

  private static Direct listing(Guard guard) {
    return Direct.serving(guard, context -> Map.of("nextCursor", "2"));
  }

  private static <T> T thrower(Throwable thrown) {
    Log.<RuntimeException>sneakily(thrown);
    return null;
  }

  private void refused(String said, Direct server, String method, Map<String, Object> params) {
    forget();
    JSONRPCResponse answer = server.ask("alice", method, params);
    assertEquals("Internal error", answer.error().message());
    assertNull(answer.error().data());
    assertEquals(1, refusals.size());
    Refusal refusal = refusals.get(0);
    assertTrue(refusal.isError());
    assertTrue(refusal.message().contains(said), refusal.message());
    assertFalse(("" + refusals + Log.LINES).contains(SECRET));
    assertEquals(1, Log.LINES.size());
  }

  private void refusedByLedger(String said, Ledger ledger) {
    Direct server = listing(builder().ledger(ledger).build());
    Object cursor = server.result("alice", "tools/list", NO_PARAMS).get("nextCursor");
    refused(said, server, "tools/list", Map.of("cursor", cursor));
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofWhatIsAsked(Throwable thrown) {
    String name = thrown.getClass().getSimpleName();
    Guard ofNobody = builder().principal(context -> thrower(thrown)).build();
    refused(name, listing(ofNobody), "tools/list", NO_PARAMS);
    Guard ofSessions = builder().build();
    ofSessions.sessions(Sessions.Settings.of(Object.class, context -> thrower(thrown)));
    refused(name, listing(ofSessions), "sessions/create", NO_PARAMS);
    refusedByLedger(name, command -> thrower(thrown));
    refusedByLedger(name, command -> CompletableFuture.failedFuture(thrown));
    refusedByLedger(
        "expected a reply as LEDGER.md specifies",
        command -> CompletableFuture.completedFuture(null));
  }

  @ParameterizedTest
  @MethodSource("thrown")
  void ofWhatIsTold(Throwable thrown) {
    Direct server =
        listing(
            builder()
                .onRefused(refusal -> thrower(thrown))
                .onEvent(event -> thrower(thrown))
                .build());
    assertNotNull(server.result("alice", "tools/list", NO_PARAMS).get("nextCursor"));
    JSONRPCResponse refused = server.ask("alice", "tools/list", NO_CURSOR);
    assertEquals("Invalid cursor", refused.error().message());
    String logged = "" + Log.LINES;
    assertTrue(logged.contains("onRefused") && !logged.contains(SECRET), logged);

    Direct loggedBadly = listing(builder().build());
    Log.failure = thrown;
    refused = loggedBadly.ask("alice", "tools/list", NO_CURSOR);
    assertEquals("Invalid cursor", refused.error().message());
    assertEquals(1, refusals.size());
  }

  /** Jackson quotes the value, and the SDK logs what a handler throws. */
  @Test
  void ofAValueOfAnotherType() {
    IllegalArgumentException thrown =
        assertThrows(
            IllegalArgumentException.class,
            () -> Json.value("\"" + SECRET + "\"", Json.type(Integer.class)));
    assertNull(thrown.getCause());
    assertFalse(thrown.getMessage().contains(SECRET), thrown::getMessage);
    assertTrue(thrown.getMessage().startsWith("value: expected JSON of java.lang.Integer"));
  }

  // What is set.

  private final Guard guard = builder().ledger(new MemoryLedger()).build();

  private static Sessions.Settings<Integer> ofSessions() {
    return Sessions.Settings.of(Integer.class, context -> 1);
  }

  private static void throwing(Class<? extends Throwable> expected, List<Executable> calls) {
    calls.forEach(call -> assertThrows(expected, call));
  }

  @Test
  void nothingIsCutOffADuration() {
    throwing(
        InvalidArgumentException.class,
        List.of(
            () -> builder().requestStateTtl(HALF),
            () -> builder().confirmTtl(HALF),
            () -> SealwaxFilter.builder(guard).idle(HALF),
            () -> LedgerOptions.DEFAULT.withClockTolerance(HALF).document(false),
            () -> guard.revoke(ALICE, HALF),
            () -> guard.revoke(ALICE, Duration.ZERO)));
  }

  @Test
  void aTransportIsFoundAgain() {
    McpStatelessServerTransport guarded = guard.protect(new Direct());
    assertEquals(guarded, guarded);
  }

  /** It would become another text in UTF-8. */
  @Test
  void aTextIsUnicode() {
    String lone = "Jos\ud800";
    throwing(
        InvalidArgumentException.class,
        List.of(
            () -> builder().only(lone, List.of("id")).build(),
            () -> builder().only("play", List.of(lone)).build(),
            () ->
                builder().ledger(new MemoryLedger(), LedgerOptions.DEFAULT.withLabel(lone)).build(),
            () -> guard.sessions(ofSessions().required(List.of(lone), List.of())),
            () -> guard.referenceHandles(lone),
            () -> guard.links(lone, Object.class),
            () -> Principal.of(lone, "client", "subject"),
            () -> Principal.of("issuer", lone, "subject"),
            () -> Principal.subject(lone)));
  }

  /** As of a bean that is null still: nothing is left out in silence. */
  @Test
  void nullIsNoSetting() {
    throwing(
        NullPointerException.class,
        List.of(
            () -> builder().principal(null),
            () -> builder().ledger(null),
            () -> builder().onRefused(null),
            () -> builder().onEvent(null),
            () -> SealwaxFilter.builder(guard).contextExtractor(null),
            () -> Sessions.Settings.of(Integer.class, null),
            () -> guard.referenceHandles("row").maxAge(null),
            () -> guard.revoke(null)));
  }

  @Test
  void whatIsForgottenOrComesTooLateIsSaid() {
    Guard withoutLedger = builder().build();
    Guard twice = builder().build();
    twice.sessions(ofSessions());
    listing(guard);
    throwing(
        IllegalStateException.class,
        List.of(
            () -> Guard.builder(codec).build(),
            () -> withoutLedger.selfContainedHandles("basket", Integer.class).singleUse(),
            () -> guard.sessions(ofSessions()),
            () -> twice.sessions(ofSessions())));
    assertThrows(IllegalArgumentException.class, () -> builder().preview("b"));
  }

  /** As at a replica of the release before. */
  @Test
  void aLinkOfAnotherTypeIsNotUsedUp() {
    List<String> events = new ArrayList<>();
    Guard counting =
        builder()
            .ledger(new MemoryLedger())
            .onEvent(event -> events.add(event.event() + " " + event.id()))
            .build();
    Links<Integer> links = counting.links("report", Integer.class).once();
    Direct server = Direct.serving(counting, context -> Map.of("link", links.seal(context, 7)));
    Object link = server.result("alice", "tools/call", NO_PARAMS).get("link");
    Links<List<?>> others = counting.links("report", new TypeRef<>() {});
    LinkRefused refused = assertThrows(LinkRefused.class, () -> others.open(link));
    assertEquals("404 malformed", refused.status() + " " + refused.code());

    // Who is not signed in is not anybody.
    assertThrows(InvalidArgumentException.class, () -> links.by(null));
    OpenedLink<Integer> seen = links.by(ALICE).preview(link);
    assertEquals(seen, links.open(link));
    assertEquals(new OpenedLink<>(7, ALICE, seen.id()), seen);
    assertEquals("OpenedLink[id=" + seen.id() + "]", seen.toString());
    assertEquals("used", assertThrows(LinkRefused.class, () -> links.open(link)).code());
    String opened = "opened " + seen.id();
    assertEquals(List.of("sealed " + seen.id(), opened, opened), events);
    for (Object sent : Arrays.asList(null, 7, List.of("sw1."), "\ud800", new byte[4])) {
      refused = assertThrows(LinkRefused.class, () -> links.open(sent));
      assertEquals("404 Not found", refused.status() + " " + refused.getMessage());
    }
  }

  @Test
  void whoWasSignedOutIsRememberedForAsLongAsIsSaid() {
    List<String> retained = new ArrayList<>();
    Ledger ledger =
        command -> {
          retained.add(command.args().get(0));
          return CompletableFuture.completedFuture(List.of("ok", "0"));
        };
    Guard remembering = builder().ledger(ledger).build();
    remembering.revoke(ALICE);
    remembering.revoke(ALICE, Duration.ofDays(30));
    assertEquals(List.of("34560300", "2592000"), retained);
  }

  @Test
  void aLedgerInMemoryHasASizeAndABeginning() {
    for (long capacity : List.of(-1L, 5L << 30)) {
      var refused = assertThrows(InvalidArgumentException.class, () -> new MemoryLedger(capacity));
      assertTrue(refused.getMessage().startsWith("capacity: expected "), refused.getMessage());
    }
    Clock clock = Clock.fixed(Instant.ofEpochSecond(1_795_000_000), ZoneOffset.UTC);
    new MemoryLedger(clock, Duration.ofDays(40_000)).close();
  }
}
