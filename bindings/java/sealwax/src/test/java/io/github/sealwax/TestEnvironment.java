package io.github.sealwax;

import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.portable.Environment;
import io.github.sealwax.internal.portable.PortableProvider;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;

/** The clock and the randomness in the tests' hands. The native library has another one. */
public abstract class TestEnvironment {
  private static final TestEnvironment CURRENT =
      ServiceLoader.load(TestEnvironment.class).findFirst().orElseGet(Portable::new);

  /** Returns that of the library under test. */
  static TestEnvironment current() {
    return CURRENT;
  }

  /** Returns the library under test. */
  public abstract Library library();

  /** Stops the clock, and gives these bytes as randomness, if there are any. */
  public abstract void set(long milliseconds, byte @Nullable [] random);

  /** Gives no randomness at all. */
  public abstract void denyRandom();

  /** Gives back the system's. */
  public abstract void reset();

  /** Runs {@code body} at a time. */
  static void at(long milliseconds, byte @Nullable [] random, Runnable body) {
    CURRENT.set(milliseconds, random);
    try {
      body.run();
    } finally {
      CURRENT.reset();
    }
  }

  /** Returns settings for the library under test. */
  static Codec build(CodecBuilder settings) {
    return io.github.sealwax.internal.Access.build(settings, CURRENT.library());
  }

  /** That of the portable module. */
  static final class Portable extends TestEnvironment implements Environment {
    private final Library library = Library.of(new PortableProvider(this), 2);
    private volatile long stopped = -1;
    private volatile byte @Nullable [] given;
    private volatile boolean denied;

    @Override
    public Library library() {
      return library;
    }

    @Override
    public void set(long milliseconds, byte @Nullable [] random) {
      stopped = milliseconds * 1_000_000;
      given = random;
    }

    @Override
    public void denyRandom() {
      denied = true;
    }

    @Override
    public void reset() {
      stopped = -1;
      given = null;
      denied = false;
    }

    @Override
    public long nanoseconds() {
      return stopped == -1 ? SYSTEM.nanoseconds() : stopped;
    }

    @Override
    public void fill(byte[] bytes) {
      byte[] random = given;
      if (denied) {
        throw new IllegalStateException("no randomness");
      }
      if (random == null) {
        SYSTEM.fill(bytes);
        return;
      }
      if (random.length != bytes.length) {
        throw new IllegalStateException(
            "expected " + random.length + " bytes, found " + bytes.length);
      }
      // The core mixes the time into what it draws: this takes it out again.
      for (int index = 0; index < bytes.length; index++) {
        bytes[index] = (byte) (random[index] ^ (index < 8 ? stopped >>> 8 * index : 0));
      }
    }
  }
}
