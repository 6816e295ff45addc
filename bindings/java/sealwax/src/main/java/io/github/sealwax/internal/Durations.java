package io.github.sealwax.internal;

import io.github.sealwax.InvalidArgumentException;
import java.time.Duration;

/** Durations as the core has them. */
public final class Durations {
  private Durations() {}

  /**
   * Returns whole seconds: nothing is cut off.
   *
   * @param name what the message calls it
   * @param duration of whole seconds, 0 or more
   * @return the seconds
   * @throws InvalidArgumentException for any other
   */
  public static long seconds(String name, Duration duration) {
    if (duration.isNegative() || duration.getNano() != 0) {
      throw new InvalidArgumentException(
          name + ": expected whole seconds, 0 or more, found " + duration);
    }
    return duration.getSeconds();
  }
}
