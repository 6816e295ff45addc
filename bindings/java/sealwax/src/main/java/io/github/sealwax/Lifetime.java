package io.github.sealwax;

import io.github.sealwax.internal.Call;
import io.github.sealwax.internal.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The lifetime of a token. Where none is given, it is the kind's default: 10 minutes for request
 * state, 30 days for self-contained sessions, 24 hours for the rest.
 *
 * @param ttl whole seconds, 1 to 4,294,967,295; {@code null} for no expiry
 */
public record Lifetime(@Nullable Duration ttl) {
  private static final int SIZE = 16;

  /** Returns a lifetime in whole seconds, 1 to 4,294,967,295. */
  public static Lifetime of(Duration ttl) {
    return new Lifetime(ttl);
  }

  /** Returns the lifetime of a token that opens as long as its key is in the ring. */
  public static Lifetime noExpiry() {
    return new Lifetime(null);
  }

  /** Returns a lifetime for C; 0 for the default. */
  static long in(Call x, @Nullable Lifetime lifetime) {
    if (lifetime == null) {
      return 0;
    }
    Duration ttl = lifetime.ttl;
    return x.struct(SIZE)
        .number(ttl == null ? 0 : Durations.seconds("ttl", ttl))
        .last(ttl == null)
        .address();
  }
}
