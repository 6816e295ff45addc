package io.github.sealwax.clibrary;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.github.sealwax.TestEnvironment;
import io.github.sealwax.internal.Library;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * That of the C library: the tests' environment.c, which is preloaded and stands in front of the
 * system's clock and randomness, so that the library under test is the one that ships.
 */
@SuppressWarnings("restricted")
public final class CEnvironment extends TestEnvironment {
  private final SymbolLookup preloaded =
      SymbolLookup.libraryLookup(Path.of(System.getenv("LD_PRELOAD")), Arena.global());
  private final MethodHandle stopClock =
      handle("environment_stop_clock", FunctionDescriptor.ofVoid(JAVA_LONG));
  private final MethodHandle setRandom =
      handle("environment_set_random", FunctionDescriptor.ofVoid(ADDRESS, JAVA_LONG));
  private final MethodHandle denyRandom =
      handle("environment_deny_random", FunctionDescriptor.ofVoid());
  private final MethodHandle reset = handle("environment_reset", FunctionDescriptor.ofVoid());

  private MethodHandle handle(String name, FunctionDescriptor type) {
    return Linker.nativeLinker().downcallHandle(preloaded.find(name).orElseThrow(), type);
  }

  @Override
  public Library library() {
    return Library.shared();
  }

  @Override
  public void set(long milliseconds, byte @Nullable [] random) {
    try (Arena arena = Arena.ofConfined()) {
      stopClock.invoke(milliseconds);
      if (random != null) {
        MemorySegment given = arena.allocateFrom(ValueLayout.JAVA_BYTE, random);
        setRandom.invoke(given, (long) random.length);
      }
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Override
  public void denyRandom() {
    try {
      denyRandom.invoke();
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Override
  public void reset() {
    try {
      reset.invoke();
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }
}
