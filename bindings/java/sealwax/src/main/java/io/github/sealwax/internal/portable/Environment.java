package io.github.sealwax.internal.portable;

import java.security.SecureRandom;
import java.time.Instant;

/** The clock and the randomness of an instance. Tests have others. */
public interface Environment {
  /**
   * Returns the time in nanoseconds since the Unix epoch. One before it counts as 0: every token is
   * then from the future, and refused.
   */
  long nanoseconds();

  /** Fills {@code bytes} with randomness fit for keys. */
  void fill(byte[] bytes);

  /** Returns a time, or the nearest that there is: beyond 2262 the numbers begin anew. */
  static long nanosecondsOf(Instant time) {
    long seconds = Math.max(0, time.getEpochSecond());
    return seconds < Long.MAX_VALUE / NANOSECONDS
        ? seconds * NANOSECONDS + time.getNano()
        : Long.MAX_VALUE;
  }

  /** In a second. */
  long NANOSECONDS = 1_000_000_000;

  /** The system's. */
  Environment SYSTEM =
      new Environment() {
        private final SecureRandom random = new SecureRandom();

        @Override
        public long nanoseconds() {
          return nanosecondsOf(Instant.now());
        }

        @Override
        public void fill(byte[] bytes) {
          random.nextBytes(bytes);
        }
      };
}
