package io.github.sealwax;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** Times as C has them: unsigned numbers of seconds or milliseconds. */
final class Times {
  /** SEALWAX_NEVER. */
  private static final long NEVER = -1;

  private Times() {}

  /** Returns whole seconds, or fails. */
  static long seconds(String name, Duration duration) {
    if (duration.isNegative() || duration.getNano() != 0) {
      throw new InvalidArgumentException(
          name + ": expected whole seconds, 0 or more, found " + duration);
    }
    return duration.getSeconds();
  }

  static @Nullable Long optionalSeconds(String name, @Nullable Duration duration) {
    return duration == null ? null : seconds(name, duration);
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
