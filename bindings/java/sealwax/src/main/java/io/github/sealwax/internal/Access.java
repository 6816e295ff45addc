package io.github.sealwax.internal;

import io.github.sealwax.Codec;
import io.github.sealwax.CodecBuilder;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What the other packages of Sealwax need of a {@link Codec} and its builder. */
public abstract class Access {
  private static volatile @Nullable Access granted;

  /** For {@link CodecBuilder} alone, without which there is no codec. */
  protected Access() {}

  /** Called by {@link CodecBuilder} when its class is initialized. */
  public static void grant(Access access) {
    granted = access;
  }

  /** Returns the codec of the ABI within a public one. */
  public static CodecObject codec(Codec codec) {
    return get().unwrap(codec);
  }

  /** Builds a codec on a test's clock. */
  public static Codec build(CodecBuilder settings, Replicated clock) {
    return get().buildOn(settings, clock);
  }

  /** Builds a codec in a library of a test's own. */
  public static Codec build(CodecBuilder settings, Library library) {
    return get().buildIn(settings, library);
  }

  private static Access get() {
    return Objects.requireNonNull(granted, "a codec before the class of its builder");
  }

  /** Returns the codec of the ABI within a public one. */
  protected abstract CodecObject unwrap(Codec codec);

  /** Builds a codec on a test's clock. */
  protected abstract Codec buildOn(CodecBuilder settings, Replicated clock);

  /** Builds a codec in a library of a test's own. */
  protected abstract Codec buildIn(CodecBuilder settings, Library library);
}
