package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Inspected;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.SealwaxException;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Shards;
import io.github.sealwax.mcp.internal.Failures;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** What a handler gets, and what becomes of its errors and of what it cannot seal. */
class HandlersTest extends Guarded {
  private static final String LONE = "Jos\ud800";

  private final Guard guard = builder().build();
  private final ReferenceHandles rows = guard.referenceHandles("row");

  @Test
  void theContextHasTheAuthorsOwnAndIsInTheOneOfReactorToo() {
    Direct server =
        Direct.answering(
            guard,
            given ->
                Mono.deferContextual(
                    view -> {
                      McpTransportContext context = view.get(McpTransportContext.KEY);
                      rows.mint(context);
                      return Mono.just(Map.of("user", given.get("user")));
                    }));
    assertEquals(Map.of("user", "alice"), server.result("alice", "tools/call", NO_PARAMS));
  }

  @Test
  void aContextIsOfOneGuardUntilItsRequestWasAnswered() {
    ReferenceHandles others = builder().build().referenceHandles("row");
    List<McpTransportContext> kept = new ArrayList<>();
    Direct server =
        Direct.serving(
            guard,
            context -> {
              kept.add(context);
              assertThrows(IllegalArgumentException.class, () -> others.mint(context));
              return NO_PARAMS;
            });
    assertNotNull(server.ask("alice", "demo/play", NO_PARAMS).result());
    assertThrows(IllegalStateException.class, () -> rows.mint(kept.get(0)));
  }

  @Test
  void aHandleThatIsRefusedIsAToolsResultOrAnErrorUnlessTheHandlerHasItsOwn() {
    Direct server = Direct.serving(guard, context -> Map.of("row", rows.check(context, "row_x")));
    assertEquals(true, server.result("alice", "tools/call", NO_PARAMS).get("isError"));
    assertEquals(-32602, server.ask("alice", "prompts/get", NO_PARAMS).error().code());
    Direct catching =
        Direct.answering(
            guard,
            context -> {
              HandleRefused refused =
                  assertThrows(HandleRefused.class, () -> rows.check(context, "row_x"));
              assertEquals("malformed", refused.code());
              return Mono.error(new McpError(new JSONRPCError(-32000, "its own", null)));
            });
    assertEquals(-32000, catching.ask("alice", "tools/call", NO_PARAMS).error().code());
    assertEquals(List.of("malformed", "malformed", "malformed"), codes());
  }

  /**
   * Its instance breaks in a request, again as that is reported, or in what a notification brings.
   */
  @ParameterizedTest
  @CsvSource({"result, 0", "result, report", "message, 0"})
  void anEngineThatFailsIsReportedOnce(String breaks, String breaksNext) {
    Map<String, Integer> frames =
        Map.of("result", Frame.RESULT, "report", Frame.REPORT, "message", Frame.MESSAGE, "0", 0);
    guard.sessions(Sessions.Settings.of(Integer.class, context -> 1));
    Direct server = Direct.serving(guard, context -> Map.of("nextCursor", "2"));
    counting.breaks = frames.get(breaks);
    counting.breaksNext = frames.get(breaksNext);
    if (breaks.equals("result")) {
      JSONRPCResponse answer = server.ask("alice", "tools/list", NO_PARAMS);
      assertEquals("Internal error", answer.error().message());
    } else {
      server.tell("alice", "notifications/demo", Map.of("_meta", Map.of(SESSION, Map.of())));
    }
    assertEquals(List.of("internal_error"), codes());
  }

  @Test
  void twoHandlesAtOnceAskForThePrincipalOnce() {
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<Thread> second = new CompletableFuture<>();
    Guard asking =
        builder()
            .principal(
                context -> {
                  if (asked.incrementAndGet() == 1) {
                    // Until the other thread waits for this answer, or asks for its own.
                    Thread waiting = second.join();
                    while (waiting.getState() != Thread.State.WAITING && asked.get() == 1) {
                      Thread.onSpinWait();
                    }
                  }
                  return Principal.subject("alice");
                })
            .build();
    ReferenceHandles handles = asking.referenceHandles("row");
    Direct server =
        Direct.serving(
            asking,
            context -> {
              CompletableFuture<String> made =
                  CompletableFuture.supplyAsync(() -> handles.mint(context).handle());
              while (asked.get() == 0) {
                Thread.onSpinWait();
              }
              second.complete(Thread.currentThread());
              return Map.of("one", handles.mint(context).handle(), "two", made.join());
            });
    // For a method of its own nobody is asked before a handle is.
    assertNull(server.ask("alice", "demo/play", NO_PARAMS).error());
    assertEquals(1, asked.get());
  }

  @Test
  void settingsOfHandlesAddUpAndNumbersAreNotCut() {
    TestClock clock = new TestClock(Instant.ofEpochSecond(1_800_000_000));
    Guard timed =
        Guard.builder(TestCodec.of(clock)).principal(context -> Principal.subject("alice")).build();
    SelfContainedHandles<Integer> handles = timed.selfContainedHandles("basket", Integer.class);
    ReferenceHandles numbers = timed.referenceHandles("row");
    Duration minute = Duration.ofMinutes(1);
    Duration hour = Duration.ofHours(1);
    Direct server =
        Direct.serving(
            timed,
            context -> {
              for (var some :
                  List.of(handles.ttl(hour).maxAge(minute), handles.maxAge(minute).ttl(hour))) {
                SelfContainedHandle made = some.seal(context, 1);
                assertEquals(clock.instant().plus(hour), made.expiresAt());
                assertEquals(1, some.open(context, made.handle()).value());
                clock.advance(minute.plusSeconds(1));
                assertThrows(HandleRefused.class, () -> some.open(context, made.handle()));
              }
              ReferenceHandle row = numbers.maxAge(hour).maxAge(minute).mint(context);
              assertEquals(clock.instant().plus(minute), row.expiresAt());
              for (long none : List.of(-1L, 1L << 32)) {
                assertThrows(
                    InvalidArgumentException.class, () -> numbers.mintShort(context, none));
              }
              long last = (1L << 32) - 1;
              assertEquals(last, numbers.checkShort(context, numbers.mintShort(context, last)));
              return NO_PARAMS;
            });
    assertNotNull(server.ask("alice", "demo/play", NO_PARAMS).result());
  }

  // What cannot be sealed reaches the handler, the log and the model.

  /** What UTF-8 cannot hold, and what Java reads as infinite, is not replaced. */
  @ParameterizedTest
  @CsvSource({
    "7, too_large",
    "-1e400, invalid_argument",
    "'\"\\ud800\"', invalid_argument",
    "9007199254740993, invalid_argument"
  })
  void aStateThatCannotBeSealed(String id, String code) {
    Map<String, Object> params =
        Json.object("{\"name\":\"play\",\"arguments\":{\"id\":" + id + "}}");
    List<String> caught = new ArrayList<>();
    Direct server =
        Direct.serving(
            guard,
            context -> {
              SealwaxException failure =
                  assertThrows(
                      SealwaxException.class, () -> guard.state(context, "x".repeat(2000)));
              caught.add(failure.code().toString());
              throw failure;
            });
    Map<String, Object> told = server.result("alice", "tools/call", params);
    assertEquals(true, told.get("isError"));
    boolean isOfArguments = code.equals("invalid_argument");
    assertEquals(isOfArguments, told.get("content").toString().contains("argument \"id\""));
    assertEquals(List.of(code), caught);
    // By the handler's failure it is not reported again.
    assertEquals(List.of(code), codes());
    Refusal refusal = refusals.get(0);
    assertEquals("request-state", refusal.kind());
    assertEquals("tools/call play", refusal.method() + " " + refusal.target());
    assertEquals(Principal.subject("alice"), refusal.principal());
    JSONRPCResponse ofPrompt = server.ask("alice", "prompts/get", params);
    assertEquals("Internal error", ofPrompt.error().message());
  }

  /** What UTF-8 cannot hold is not replaced. */
  @Test
  void aValueThatIsNoUnicode() {
    Sessions<Object> sessions =
        guard.sessions(
            Sessions.Settings.of(
                Object.class, context -> context.get("user").equals("lone") ? LONE : "x"));
    SelfContainedHandles<Object> handles = guard.selfContainedHandles("basket", Object.class);
    Direct server =
        Direct.serving(
            guard,
            context -> {
              OpenedHandle<Object> opened =
                  handles.open(context, handles.seal(context, "x").handle());
              for (Runnable make :
                  List.<Runnable>of(
                      () -> handles.seal(context, LONE),
                      () -> guard.pages(Integer.class).list(LONE).cursor(context, 1),
                      () -> handles.renew(context, opened, List.of(LONE)),
                      () -> sessions.of(context).write(LONE),
                      () -> guard.state(context, Map.of("a", LONE)))) {
                assertThrows(InvalidArgumentException.class, make::run);
              }
              // A client's is another thing: it is no handle.
              assertThrows(HandleRefused.class, () -> handles.open(context, LONE));
              return NO_PARAMS;
            });
    assertNotNull(server.ask("lone", "sessions/create", NO_PARAMS).error());
    Object session = server.result("alice", "sessions/create", NO_PARAMS).get("session");
    Map<String, Object> params = Map.of("_meta", Map.of(SESSION, session));
    assertNotNull(server.ask("alice", "tools/call", params).result());
  }

  /** Has a handler check a handle on a ledger; returns why that was refused. */
  private List<String> checked(Duration timeLimit, Ledger ledger) {
    refusals.clear();
    Guard remembering = builder().ledger(ledger).timeLimit(timeLimit).build();
    ReferenceHandles handles = remembering.referenceHandles("row");
    Direct server =
        Direct.serving(
            remembering,
            context ->
                Map.of("row", handles.check(context, handles.mint(context).handle()).handle()));
    server.ask("alice", "tools/call", NO_PARAMS);
    // That it was not opened either is of the message.
    return codes(refusals.stream().filter(refusal -> refusal.kind().equals("handle")).toList());
  }

  @Test
  void aLedgerIsToldItsShareOfTheTimeLimitAndNotWaitedForLonger() {
    List<String> passed = List.of("ok", "0");
    List<Duration> within = new ArrayList<>();
    Ledger ledger =
        command -> {
          within.add(command.within());
          return CompletableFuture.completedFuture(passed);
        };
    assertEquals(List.of(), checked(Duration.ofSeconds(60), ledger));
    assertTrue(within.get(0).compareTo(Duration.ofSeconds(1)) > 0, () -> "" + within);
    assertTrue(within.get(0).compareTo(Duration.ofSeconds(18)) <= 0, () -> "" + within);
    Ledger late =
        command -> {
          new CompletableFuture<>()
              .completeOnTimeout(null, command.within().toMillis() + 1, TimeUnit.MILLISECONDS)
              .join();
          return CompletableFuture.completedFuture(passed);
        };
    List<String> unavailable = List.of("ledger_unavailable");
    assertEquals(unavailable, checked(Duration.ofMillis(100), late));
    Ledger silent = command -> new CompletableFuture<>();
    assertTimeoutPreemptively(
        Duration.ofSeconds(10),
        () -> assertEquals(unavailable, checked(Duration.ofMillis(200), silent)));
  }

  @Test
  void whoInterruptsAWaitingThreadIsHeardLaterToo() {
    Thread.currentThread().interrupt();
    assertThrows(
        ExecutionException.class,
        () -> Failures.awaited(new CompletableFuture<>(), Duration.ofSeconds(20)));
    assertTrue(Thread.interrupted());
  }

  /** Also in a pooled instance where they failed to be set. */
  @Test
  void aGuardHasThePresentKeysInEveryPooledInstance() {
    Direct server = Direct.serving(guard, context -> Map.of("nextCursor", "2"));
    Supplier<String> sealer =
        () -> {
          Object cursor = server.result("alice", "tools/list", NO_PARAMS).get("nextCursor");
          return ((Inspected.Token) Inspected.of((String) cursor)).keyId();
        };
    assertNotNull(Shards.without(library, 0, sealer));
    Key next = Key.generate();
    counting.refuses.set(2);
    assertTrue(codec.setKeys(KeyRing.of(next)));
    assertTrue(counting.refuses.get() <= 0);
    for (int busy : List.of(0, 1)) {
      assertEquals(next.id(), Shards.without(library, busy, sealer), "beside " + busy);
    }
  }
}
