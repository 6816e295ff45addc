package io.github.sealwax.testing;

import io.github.sealwax.Codec;
import io.github.sealwax.CodecBuilder;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.internal.Access;

/** Codecs on a clock of a test. */
public final class TestCodec {
  /** The service that {@link #of} is for. */
  public static final String AUDIENCE = "https://test.example.com";

  private TestCodec() {}

  /** Returns a codec on a clock with a fresh key: nothing of another test opens at it. */
  public static Codec of(TestClock clock) {
    return of(clock, Codec.builder(AUDIENCE).keys(KeyRing.of(Key.generate())));
  }

  /** Returns a codec on a clock, with settings of its own. */
  public static Codec of(TestClock clock, CodecBuilder settings) {
    return Access.build(settings, clock.replicated);
  }
}
