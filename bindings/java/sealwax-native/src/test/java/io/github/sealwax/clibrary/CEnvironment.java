package io.github.sealwax.clibrary;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.sealwax.TestEnvironment;
import io.github.sealwax.internal.Library;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * That of the C library: the tests' environment.c, which is preloaded and stands in front of the
 * system's clock and randomness, so that the library under test is the one that ships.
 */
@SuppressWarnings("restricted")
public final class CEnvironment extends TestEnvironment {
  private final SymbolLookup preloaded =
      SymbolLookup.libraryLookup(Path.of(System.getenv("LD_PRELOAD")), Arena.global());

  private void call(String name, Object... given) {
    MemoryLayout[] types =
        Stream.of(given)
            .map(one -> one instanceof Long ? JAVA_LONG : ADDRESS)
            .toArray(MemoryLayout[]::new);
    MemorySegment function = preloaded.find("environment_" + name).orElseThrow();
    try {
      Linker.nativeLinker()
          .downcallHandle(function, FunctionDescriptor.ofVoid(types))
          .invokeWithArguments(given);
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Override
  public Library library() {
    return Library.shared();
  }

  @Override
  public void set(long milliseconds, byte @Nullable [] random) {
    call("stop_clock", milliseconds);
    if (random != null) {
      try (Arena arena = Arena.ofConfined()) {
        call("set_random", arena.allocateFrom(JAVA_BYTE, random), (long) random.length);
      }
    }
  }

  @Override
  public void denyRandom() {
    call("deny_random");
  }

  @Override
  public void reset() {
    call("reset");
  }
}
