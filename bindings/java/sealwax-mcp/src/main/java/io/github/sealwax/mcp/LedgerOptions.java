package io.github.sealwax.mcp;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
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
  /** The defaults. */
  public static final LedgerOptions DEFAULT = new LedgerOptions(null, null, null, false);

  Map<String, Object> document(boolean isLocal) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("local", isLocal);
    document.put("reusableRequestState", reusableRequestState);
    if (label != null) {
      document.put("label", label);
    }
    if (clockTolerance != null) {
      document.put("clockTolerance", clockTolerance.toSeconds());
    }
    if (acceptIssuedSince != null) {
      document.put("acceptIssuedSince", acceptIssuedSince.getEpochSecond());
    }
    return document;
  }
}
