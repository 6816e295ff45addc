package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Settings of a ledger; null stands for the default.
 *
 * @param label separates two ledgers of one audience in one store
 * @param clockTolerance the largest difference between clocks: 5 seconds by default, none for a
 *     ledger in memory
 * @param acceptIssuedSince accepts tokens older than the ledger if they were made after this time:
 *     for the day when the ledger is introduced
 * @param reusableRequestState accepts a {@code requestState} any number of times
 */
public record LedgerOptions(
    @Nullable String label,
    @Nullable Duration clockTolerance,
    @Nullable Instant acceptIssuedSince,
    boolean reusableRequestState) {
  /** The defaults, to begin with. */
  public static final LedgerOptions DEFAULT = new LedgerOptions(null, null, null, false);

  /**
   * Returns these settings with another label.
   *
   * @param label separates two ledgers of one audience in one store
   * @return the settings
   */
  public LedgerOptions withLabel(String label) {
    return new LedgerOptions(label, clockTolerance, acceptIssuedSince, reusableRequestState);
  }

  /**
   * Returns these settings with another tolerance.
   *
   * @param tolerance whole seconds
   * @return the settings
   */
  public LedgerOptions withClockTolerance(Duration tolerance) {
    return new LedgerOptions(label, tolerance, acceptIssuedSince, reusableRequestState);
  }

  /**
   * Returns these settings for the day when the ledger is introduced.
   *
   * @param time accepts tokens older than the ledger if they were made after this time
   * @return the settings
   */
  public LedgerOptions withAcceptIssuedSince(Instant time) {
    return new LedgerOptions(label, clockTolerance, time, reusableRequestState);
  }

  /**
   * Returns these settings for a {@code requestState} that counts any number of times.
   *
   * @return the settings
   */
  public LedgerOptions withReusableRequestState() {
    return new LedgerOptions(label, clockTolerance, acceptIssuedSince, true);
  }

  Map<String, Object> document(boolean isLocal) {
    Map<String, Object> document = new HashMap<>();
    document.put("local", isLocal);
    document.put("label", label);
    document.put(
        "clockTolerance",
        clockTolerance == null ? null : Durations.seconds("clockTolerance", clockTolerance));
    document.put(
        "acceptIssuedSince", acceptIssuedSince == null ? null : acceptIssuedSince.getEpochSecond());
    document.put("reusableRequestState", reusableRequestState);
    return document;
  }
}
