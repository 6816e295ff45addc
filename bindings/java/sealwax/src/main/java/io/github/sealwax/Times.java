package io.github.sealwax;

import io.github.sealwax.internal.Durations;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Times as C has them: unsigned numbers of seconds or milliseconds. */
final class Times {
  /** SEALWAX_NEVER. */
  private static final long NEVER = -1;

  private Times() {}

  static @Nullable Long optionalSeconds(String name, @Nullable Duration duration) {
    return duration == null ? null : Durations.seconds(name, duration);
  }

  static Instant ofSeconds(long seconds) {
    return seconds < 0 || seconds > Instant.MAX.getEpochSecond()
        ? Instant.MAX
        : Instant.ofEpochSecond(seconds);
  }

  static Instant ofMilliseconds(long milliseconds) {
    return milliseconds < 0 ? Instant.MAX : Instant.ofEpochMilli(milliseconds);
  }

  static @Nullable Instant secondsUnlessNever(long seconds) {
    return seconds == NEVER ? null : ofSeconds(seconds);
  }

  static @Nullable Instant millisecondsUnlessNever(long milliseconds) {
    return milliseconds == NEVER ? null : ofMilliseconds(milliseconds);
  }
}
