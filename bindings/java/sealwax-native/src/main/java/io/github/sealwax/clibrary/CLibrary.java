package io.github.sealwax.clibrary;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Instance;
import java.io.File;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Stream;

/** The C library: all functions by their addresses, and memory of {@code malloc}. */
@SuppressWarnings("restricted") // That is what it is for.
final class CLibrary implements Instance {
  /** The path of the library's file; without it, it is sought in {@code java.library.path}. */
  private static final String PROPERTY = "io.github.sealwax.library";

  private static final int POINTER = 8;
  private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  private static final ValueLayout.OfInt INT =
      JAVA_INT_UNALIGNED.withOrder(ByteOrder.nativeOrder());
  private static final ValueLayout.OfLong LONG =
      JAVA_LONG_UNALIGNED.withOrder(ByteOrder.nativeOrder());

  static final CLibrary SHARED = new CLibrary();

  private final MethodHandle malloc;
  private final MethodHandle free;

  /** Each takes its arguments as an array and returns a number. */
  private final Map<Function, MethodHandle> functions = new EnumMap<>(Function.class);

  private CLibrary() {
    Linker linker = Linker.nativeLinker();
    SymbolLookup system = linker.defaultLookup();
    malloc = handle(linker, system, "malloc", "pp");
    free = handle(linker, system, "free", "vp");
    // Never closed: objects of the library may live as long as the process.
    SymbolLookup library = SymbolLookup.libraryLookup(file(), Arena.global());
    for (Function function : Function.values()) {
      functions.put(function, handle(linker, library, function.symbol(), function.types()));
    }
  }

  private static Path file() {
    String path = System.getProperty(PROPERTY);
    if (path != null) {
      return Path.of(path);
    }
    String name = System.mapLibraryName("sealwax");
    return Stream.of(System.getProperty("java.library.path", "").split(File.pathSeparator))
        .map(folder -> Path.of(folder, name))
        .filter(Files::isRegularFile)
        .findFirst()
        .map(Path::toAbsolutePath)
        .orElseThrow(
            () ->
                new UnsatisfiedLinkError(
                    "expected "
                        + name
                        + " in java.library.path, or its path in the property "
                        + PROPERTY));
  }

  private static MethodHandle handle(
      Linker linker, SymbolLookup library, String symbol, String types) {
    MemorySegment address =
        library
            .find(symbol)
            .orElseThrow(
                () ->
                    new UnsatisfiedLinkError(
                        "expected a library with " + symbol + ": is it another release's?"));
    MemoryLayout[] parameters =
        types.chars().skip(1).mapToObj(type -> layout((char) type)).toArray(MemoryLayout[]::new);
    char result = types.charAt(0);
    MethodHandle call =
        linker.downcallHandle(
            address,
            result == 'v'
                ? FunctionDescriptor.ofVoid(parameters)
                : FunctionDescriptor.of(layout(result), parameters));
    if (result == 'v') {
      call = MethodHandles.filterReturnValue(call, MethodHandles.constant(long.class, 0L));
    }
    Class<?>[] numbers = new Class<?>[parameters.length];
    Arrays.fill(numbers, long.class);
    return MethodHandles.explicitCastArguments(call, MethodType.methodType(long.class, numbers))
        .asSpreader(long[].class, parameters.length);
  }

  private static MemoryLayout layout(char type) {
    return switch (type) {
      case 'i' -> JAVA_INT;
      default -> JAVA_LONG;
    };
  }

  private static long invoke(MethodHandle handle, long... arguments) {
    try {
      return (long) handle.invokeExact(arguments);
    } catch (RuntimeException | Error thrown) {
      throw thrown;
    } catch (Throwable impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public int pointerSize() {
    return POINTER;
  }

  @Override
  public long call(Function function, long[] arguments) {
    return invoke(functions.get(function), arguments);
  }

  @Override
  public long allocate(int size) {
    return invoke(malloc, Math.max(size, 1));
  }

  @Override
  public void free(long address, int size) {
    wipe(address, size);
    invoke(free, address);
  }

  @Override
  public void write(long address, byte[] source) {
    MemorySegment.copy(source, 0, ALL, JAVA_BYTE, address, source.length);
  }

  @Override
  public void writeInt(long address, int value) {
    ALL.set(INT, address, value);
  }

  @Override
  public void writeLong(long address, long value) {
    ALL.set(LONG, address, value);
  }

  @Override
  public byte[] read(long address, int length) {
    byte[] read = new byte[length];
    MemorySegment.copy(ALL, JAVA_BYTE, address, read, 0, length);
    return read;
  }

  @Override
  public byte readByte(long address) {
    return ALL.get(JAVA_BYTE, address);
  }

  @Override
  public int readInt(long address) {
    return ALL.get(INT, address);
  }

  @Override
  public long readLong(long address) {
    return ALL.get(LONG, address);
  }

  @Override
  public void wipe(long address, int size) {
    ALL.asSlice(address, size).fill((byte) 0);
  }
}
