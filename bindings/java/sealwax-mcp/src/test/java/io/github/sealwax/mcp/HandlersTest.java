package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Library;
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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** What a handler gets, what becomes of its errors, and what the author's functions are asked. */
class HandlersTest {
  private static final Map<String, Object> NO_PARAMS = Map.of();

  private final Counting counting = new Counting();
  private final Codec codec =
      Access.build(
          Codec.builder("https://mcp.example.com").keys(KeyRing.of(Key.generate())),
          Library.of(counting, 1));
  private final List<Refusal> refusals = new ArrayList<>();

  private Guard guard(UnaryOperator<Guard.Builder> more) {
    return more.apply(Guard.builder(codec).anonymous().onRefused(refusals::add)).build();
  }

  private List<String> codes() {
    return refusals.stream().map(Refusal::code).toList();
  }

  @Test
  void theAuthorsOwnStaysInTheContext() {
    Guard guard = guard(it -> it);
    Direct server = new Direct(guard, (context, request) -> Map.of("user", context.get("user")));
    Object result = server.ask("alice", "tools/call", NO_PARAMS).result();
    assertEquals("alice", Values.object(result).get("user"));
  }

  @Test
  void theContextIsInTheOneOfReactorToo() {
    Guard guard = guard(it -> it);
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            new Answering(
                given ->
                    Mono.deferContextual(
                        view -> {
                          McpTransportContext context = view.get(McpTransportContext.KEY);
                          return Mono.just(Map.of("row", rows.mint(context).handle()));
                        })));
    Object result = server.ask("alice", "tools/call", NO_PARAMS).result();
    assertTrue(Values.object(result).containsKey("row"));
  }

  @Test
  void theContextOfAnotherGuardIsNone() {
    ReferenceHandles rows = guard(it -> it).referenceHandles("row");
    Direct server =
        new Direct(
            guard(it -> it), (context, request) -> Map.of("row", rows.mint(context).handle()));
    assertThrows(
        IllegalArgumentException.class, () -> server.ask("alice", "tools/call", NO_PARAMS));
  }

  @Test
  void aNumberOfAShortHandleIsNeverCut() {
    Guard guard = guard(it -> it.principal(context -> Principal.subject("alice")));
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            (context, request) -> {
              for (long none : List.of(-1L, 1L << 32)) {
                assertThrows(InvalidArgumentException.class, () -> rows.mintShort(context, none));
              }
              long last = (1L << 32) - 1;
              return Map.of("row", rows.checkShort(context, rows.mintShort(context, last)));
            });
    Object result = server.ask("alice", "tools/call", NO_PARAMS).result();
    assertEquals(4294967295L, Values.object(result).get("row"));
  }

  @Test
  void aContextIsOverOnceItsRequestWasAnswered() {
    Guard guard = guard(it -> it);
    ReferenceHandles rows = guard.referenceHandles("row");
    List<McpTransportContext> kept = new ArrayList<>();
    Direct server =
        new Direct(
            guard,
            (context, request) -> {
              kept.add(context);
              return NO_PARAMS;
            });
    server.ask("alice", "demo/play", NO_PARAMS);
    assertThrows(IllegalStateException.class, () -> rows.mint(kept.get(0)));
  }

  @Test
  void aHandleThatIsRefusedIsAToolsResultAndOtherwiseAnError() {
    Guard guard = guard(it -> it);
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            new Answering(context -> Mono.just(Map.of("row", rows.check(context, "row_x")))));
    JSONRPCResponse ofTool = server.ask("alice", "tools/call", NO_PARAMS);
    assertNull(ofTool.error());
    assertEquals(true, Values.object(ofTool.result()).get("isError"));
    JSONRPCResponse ofPrompt = server.ask("alice", "prompts/get", NO_PARAMS);
    assertEquals(-32602, ofPrompt.error().code());
    assertEquals(List.of("malformed", "malformed"), codes());
  }

  @Test
  void anErrorOfTheHandlersOwnIsNoRefusal() {
    Guard guard = guard(it -> it);
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            new Answering(
                context -> {
                  assertThrows(HandleRefused.class, () -> rows.check(context, "row_x"));
                  return Mono.error(new McpError(new JSONRPCError(-32000, "its own", null)));
                }));
    assertEquals(-32000, server.ask("alice", "tools/call", NO_PARAMS).error().code());
  }

  /** Its instance breaks in a request, or in what a notification brings. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anEngineThatFailsIsReportedOnce(boolean isRequest) {
    Guard guard = guard(it -> it);
    guard.sessions(Sessions.Settings.of(Integer.class, context -> 1));
    AtomicInteger ran = new AtomicInteger();
    Direct server =
        new Direct(
            guard,
            new Answering(
                context -> {
                  ran.incrementAndGet();
                  return Mono.just(Map.of("nextCursor", "2"));
                }));
    counting.breaks = isRequest ? Frame.RESULT : Frame.MESSAGE;
    if (isRequest) {
      JSONRPCResponse answer = server.ask("alice", "tools/list", NO_PARAMS);
      assertEquals("Internal error", answer.error().message());
    } else {
      Map<String, Object> meta = Map.of("io.modelcontextprotocol/session", Map.of());
      server.tell("alice", "notifications/demo", Map.of("_meta", meta));
    }
    assertEquals(isRequest ? 1 : 0, ran.get());
    assertEquals(List.of("internal_error"), codes());
  }

  @Test
  void twoHandlesAtOnceAskForThePrincipalOnce() {
    AtomicInteger asked = new AtomicInteger();
    CompletableFuture<Thread> second = new CompletableFuture<>();
    Guard guard =
        guard(
            it ->
                it.principal(
                    context -> {
                      if (asked.incrementAndGet() == 1) {
                        // Until the other thread waits for this answer, or asks for its own.
                        Thread waiting = second.join();
                        while (waiting.getState() != Thread.State.WAITING && asked.get() == 1) {
                          Thread.onSpinWait();
                        }
                      }
                      return Principal.subject("alice");
                    }));
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            (context, request) -> {
              CompletableFuture<String> made = new CompletableFuture<>();
              Thread first =
                  new Thread(
                      () -> {
                        try {
                          made.complete(rows.mint(context).handle());
                        } catch (RuntimeException failure) {
                          made.completeExceptionally(failure);
                        }
                      });
              first.start();
              while (asked.get() == 0) {
                Thread.onSpinWait();
              }
              second.complete(Thread.currentThread());
              return Map.of("one", rows.mint(context).handle(), "two", made.join());
            });
    // For a method of its own nobody is asked before a handle is.
    assertNull(server.ask("alice", "demo/play", NO_PARAMS).error());
    assertEquals(1, asked.get());
  }

  @Test
  void settingsOfHandlesAddUp() {
    Instant now = Instant.ofEpochSecond(1_800_000_000);
    TestClock clock = new TestClock(now);
    KeyRing keys = KeyRing.of(Key.generate());
    Guard guard =
        Guard.builder(TestCodec.of(clock, Codec.builder("a").keys(keys))).anonymous().build();
    SelfContainedHandles<Integer> handles = guard.selfContainedHandles("basket", Integer.class);
    Duration minute = Duration.ofMinutes(1);
    Duration hour = Duration.ofHours(1);
    Direct server =
        new Direct(
            guard,
            (context, request) -> {
              for (var some :
                  List.of(handles.ttl(hour).maxAge(minute), handles.maxAge(minute).ttl(hour))) {
                SelfContainedHandle made = some.seal(context, 1);
                assertEquals(clock.instant().plus(hour), made.expiresAt());
                assertEquals(1, some.open(context, made.handle()).value());
                clock.advance(minute.plusSeconds(1));
                assertThrows(HandleRefused.class, () -> some.open(context, made.handle()));
              }
              ReferenceHandle row =
                  guard.referenceHandles("row").maxAge(hour).maxAge(minute).mint(context);
              assertEquals(clock.instant().plus(minute), row.expiresAt());
              return Map.of("ran", true);
            });
    assertNotNull(server.ask("alice", "demo/play", NO_PARAMS).result());
  }

  /** Has a handler check a handle on a ledger; returns what it was refused for. */
  private String checked(Duration timeLimit, Ledger ledger) {
    Guard guard = guard(it -> it.ledger(ledger).timeLimit(timeLimit));
    ReferenceHandles rows = guard.referenceHandles("row");
    Direct server =
        new Direct(
            guard,
            (context, request) -> {
              String row = rows.mint(context).handle();
              try {
                return Map.of("row", rows.check(context, row).handle());
              } catch (HandleRefused refused) {
                return Map.of("code", refused.code());
              }
            });
    Object result = server.ask("alice", "tools/call", NO_PARAMS).result();
    return (String) Values.object(result).get("code");
  }

  private static final List<String> PASSED = List.of("ok", "0");

  @Test
  void aLedgerIsToldItsShareOfTheTimeLimit() {
    List<Duration> within = new ArrayList<>();
    Ledger ledger =
        command -> {
          within.add(command.within());
          return CompletableFuture.completedFuture(PASSED);
        };
    assertNull(checked(Duration.ofSeconds(60), ledger));
    assertTrue(within.get(0).compareTo(Duration.ofSeconds(1)) > 0, () -> "" + within);
    assertTrue(within.get(0).compareTo(Duration.ofSeconds(18)) <= 0, () -> "" + within);
  }

  @Test
  void aLedgersAnswerThatComesTooLateDoesNotCount() {
    Ledger late =
        command -> {
          long began = System.nanoTime();
          while (System.nanoTime() - began <= command.within().toNanos()) {
            Thread.onSpinWait();
          }
          return CompletableFuture.completedFuture(PASSED);
        };
    assertEquals("ledger_unavailable", checked(Duration.ofMillis(100), late));
  }

  @Test
  void aLedgerThatNeverAnswersIsNotWaitedFor() {
    Ledger silent = command -> new CompletableFuture<>();
    assertTimeoutPreemptively(
        Duration.ofSeconds(10),
        () -> assertEquals("ledger_unavailable", checked(Duration.ofMillis(200), silent)));
  }

  @Test
  void whoInterruptsAWaitingThreadIsHeardLaterToo() {
    Thread.currentThread().interrupt();
    assertThrows(
        ExecutionException.class,
        () -> Failures.awaited(new CompletableFuture<>(), Duration.ofSeconds(20)));
    assertTrue(Thread.interrupted());
  }
}
