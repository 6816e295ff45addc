package io.github.sealwax.internal.portable;

import java.security.SecureRandom;
import java.time.Instant;

/** The clock and the randomness of an instance. Tests have others. */
public interface Environment {
  /** Returns the time in nanoseconds since the Unix epoch. */
  long nanoseconds();

  /** Fills {@code bytes} with randomness fit for keys. */
  void fill(byte[] bytes);

  /** The system's. */
  Environment SYSTEM =
      new Environment() {
        private final SecureRandom random = new SecureRandom();

        @Override
        public long nanoseconds() {
          Instant now = Instant.now();
          return now.getEpochSecond() * 1_000_000_000 + now.getNano();
        }

        @Override
        public void fill(byte[] bytes) {
          random.nextBytes(bytes);
        }
      };
}
