package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsTest {
  private static final Duration HALF = Duration.ofMillis(500);

  @Test
  void nothingIsCutOffADuration() {
    Codec codec =
        Codec.builder("https://notes.example.com").keys(KeyRing.of(Key.generate())).build();
    Guard guard = Guard.builder(codec).anonymous().build();
    assertThrows(InvalidArgumentException.class, () -> Guard.builder(codec).requestStateTtl(HALF));
    assertThrows(InvalidArgumentException.class, () -> SealwaxFilter.builder(guard).idle(HALF));
    assertThrows(
        InvalidArgumentException.class,
        () -> LedgerOptions.DEFAULT.withClockTolerance(HALF).document(false));
  }

  @Test
  void ledgerOptionsAddUp() {
    LedgerOptions options =
        LedgerOptions.DEFAULT
            .withLabel("notes")
            .withClockTolerance(Duration.ofSeconds(3))
            .withAcceptIssuedSince(Instant.ofEpochSecond(1_795_000_000))
            .withReusableRequestState();
    Map<String, Object> expected =
        Map.of(
            "local",
            false,
            "label",
            "notes",
            "clockTolerance",
            3L,
            "acceptIssuedSince",
            1_795_000_000L,
            "reusableRequestState",
            true);
    assertEquals(expected, options.document(false));
  }

  @Test
  void settingsOfSessionsAddUp() {
    Sessions.Settings<Integer> settings =
        of().ttl(Duration.ofSeconds(60)).noExpiry().required(List.of("demo/play"), List.of("play"));
    Map<String, Object> required =
        Map.of("methods", List.of("demo/play"), "tools", List.of("play"));
    assertEquals(Map.of("ttl", 60L, "noExpiry", true, "required", required), settings.members);
    assertEquals(Map.of("required", true), of().required().members);
    assertEquals(Map.of("heldByServer", true), Sessions.Settings.heldByServer().members);
  }

  private static Sessions.Settings<Integer> of() {
    return Sessions.Settings.of(Integer.class, context -> 1);
  }

  /** As of a bean that is null still: nothing is left out in silence. */
  @Test
  void nullIsNoSetting() {
    Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://notes.example.com");
    Guard.Builder builder = Guard.builder(codec);
    assertThrows(NullPointerException.class, () -> builder.principal(null));
    assertThrows(IllegalStateException.class, builder::build);
    assertThrows(NullPointerException.class, () -> builder.ledger(null));
    assertThrows(NullPointerException.class, () -> builder.onRefused(null));
    assertThrows(NullPointerException.class, () -> builder.onEvent(null));
    Guard guard = builder.anonymous().build();
    assertThrows(
        NullPointerException.class, () -> SealwaxFilter.builder(guard).contextExtractor(null));
    assertThrows(NullPointerException.class, () -> Sessions.Settings.of(Integer.class, null));
    ReferenceHandles rows = guard.referenceHandles("row");
    assertThrows(NullPointerException.class, () -> rows.maxAge(null));
  }

  @Test
  void whoWasSignedOutIsRememberedForAsLongAsIsSaid() {
    Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://notes.example.com");
    MemoryLedger memory = new MemoryLedger();
    List<String> retained = new ArrayList<>();
    Guard guard =
        Guard.builder(codec)
            .principal(context -> null)
            .ledger(
                command -> {
                  retained.add(command.args().get(0));
                  return memory.run(command);
                })
            .build();
    Principal alice = Principal.subject("alice");
    guard.revoke(alice);
    guard.revoke(alice, Duration.ofDays(30));
    assertEquals(List.of("34560300", "2592000"), retained);
    assertThrows(InvalidArgumentException.class, () -> guard.revoke(alice, HALF));
    assertThrows(InvalidArgumentException.class, () -> guard.revoke(alice, Duration.ZERO));
  }

  @Test
  void whatIsForgottenOrComesTooLateIsSaid() {
    Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://notes.example.com");
    Guard.Builder ofNobody = Guard.builder(codec);
    assertThrows(IllegalStateException.class, ofNobody::build);
    Guard guard = Guard.builder(codec).anonymous().build();
    SelfContainedHandles<Integer> handles = guard.selfContainedHandles("basket", Integer.class);
    assertThrows(IllegalStateException.class, handles::singleUse);
    new Direct(guard, (context, request) -> Map.of());
    assertThrows(IllegalStateException.class, () -> guard.sessions(of()));
    Guard twice = Guard.builder(codec).anonymous().build();
    twice.sessions(of());
    assertThrows(IllegalStateException.class, () -> twice.sessions(of()));
  }

  @Test
  void aLedgerInMemoryHasASizeAndABeginning() {
    for (long capacity : List.of(-1L, 5L << 30)) {
      var refused = assertThrows(InvalidArgumentException.class, () -> new MemoryLedger(capacity));
      assertTrue(refused.getMessage().startsWith("capacity: expected "), refused.getMessage());
    }
    Clock clock = Clock.fixed(Instant.ofEpochSecond(1_795_000_000), ZoneOffset.UTC);
    try (MemoryLedger longAgo = new MemoryLedger(clock, Duration.ofDays(40_000))) {
      List<String> keys = List.of("a:began", "a:fence", "a:p:x", "a:u:r:x", "a:e:r:x");
      List<String> args =
          List.of("0", "5", "0", "once", "1795000000", "1794999000", "1795000600", "", "", "");
      Ledger.Command use = new Ledger.Command("admit", keys, args, HALF);
      assertEquals(List.of("ok", "0"), longAgo.run(use).toCompletableFuture().join());
    }
  }
}
