package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.sealwax.Codec;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import java.time.Duration;
import java.time.Instant;
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
}
