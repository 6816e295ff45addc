package io.github.sealwax.internal.portable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import run.endive.runtime.ConstantEvaluators;
import run.endive.runtime.Instance;
import run.endive.runtime.Memory;
import run.endive.wasm.types.ActiveDataSegment;
import run.endive.wasm.types.DataSegment;
import run.endive.wasm.types.MemoryLimits;
import run.endive.wasm.types.PassiveDataSegment;

/**
 * A memory for one thread in one array, which the cipher uses in its place. Endive's own is one of
 * pages, and takes twice as long. An address outside is an {@link IndexOutOfBoundsException}, which
 * ends the instance.
 */
@SuppressWarnings("removal") // Of methods that it has to have.
final class FlatMemory implements Memory {
  private static final VarHandle SHORT = view(short[].class);
  private static final VarHandle INT = view(int[].class);
  private static final VarHandle LONG = view(long[].class);
  private static final VarHandle FLOAT = view(float[].class);
  private static final VarHandle DOUBLE = view(double[].class);

  /** No array is longer. */
  private static final int MOST_PAGES = Integer.MAX_VALUE / PAGE_SIZE;

  private final MemoryLimits limits;
  private DataSegment[] segments = {};
  private byte[] bytes;

  FlatMemory(MemoryLimits limits) {
    this.limits = limits;
    bytes = new byte[limits.initialPages() * PAGE_SIZE];
  }

  private static VarHandle view(Class<?> type) {
    return MethodHandles.byteArrayViewVarHandle(type, ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the present array; the next call of the module may replace it. */
  byte[] array() {
    return bytes;
  }

  @Override
  public int pages() {
    return bytes.length / PAGE_SIZE;
  }

  @Override
  public int grow(int more) {
    int pages = pages();
    if (more < 0 || more > Math.min(maximumPages(), MOST_PAGES) - pages) {
      return -1;
    }
    byte[] former = bytes;
    try {
      bytes = Arrays.copyOf(former, (pages + more) * PAGE_SIZE);
    } catch (OutOfMemoryError none) {
      return -1;
    }
    // It held keys.
    Arrays.fill(former, (byte) 0);
    return pages;
  }

  @Override
  public int initialPages() {
    return limits.initialPages();
  }

  @Override
  public int maximumPages() {
    return limits.maximumPages();
  }

  @Override
  public void initialize(Instance instance, DataSegment[] segments) {
    this.segments = segments.clone();
    for (DataSegment segment : segments) {
      if (segment instanceof ActiveDataSegment active) {
        long offset =
            ConstantEvaluators.computeConstantValue(instance, active.offsetInstructions())[0];
        write((int) offset, active.data());
      }
    }
  }

  @Override
  public void initPassiveSegment(int segment, int target, int offset, int size) {
    System.arraycopy(segments[segment].data(), offset, bytes, target, size);
  }

  @Override
  public void drop(int segment) {
    segments[segment] = PassiveDataSegment.EMPTY;
  }

  @Override
  public void write(int address, byte[] source, int offset, int size) {
    System.arraycopy(source, offset, bytes, address, size);
  }

  @Override
  public byte[] readBytes(int address, int size) {
    byte[] read = new byte[size];
    System.arraycopy(bytes, address, read, 0, size);
    return read;
  }

  @Override
  public void copy(int target, int source, int size) {
    System.arraycopy(bytes, source, bytes, target, size);
  }

  @Override
  public void fill(byte value, int from, int to) {
    Arrays.fill(bytes, from, to, value);
  }

  @Override
  public void zero() {
    Arrays.fill(bytes, (byte) 0);
  }

  @Override
  public byte read(int address) {
    return bytes[address];
  }

  @Override
  public void writeByte(int address, byte value) {
    bytes[address] = value;
  }

  @Override
  public short readShort(int address) {
    return (short) SHORT.get(bytes, address);
  }

  @Override
  public long readU16(int address) {
    return Short.toUnsignedLong(readShort(address));
  }

  @Override
  public void writeShort(int address, short value) {
    SHORT.set(bytes, address, value);
  }

  @Override
  public int readInt(int address) {
    return (int) INT.get(bytes, address);
  }

  @Override
  public void writeI32(int address, int value) {
    INT.set(bytes, address, value);
  }

  @Override
  public long readLong(int address) {
    return (long) LONG.get(bytes, address);
  }

  @Override
  public void writeLong(int address, long value) {
    LONG.set(bytes, address, value);
  }

  @Override
  public float readFloat(int address) {
    return (float) FLOAT.get(bytes, address);
  }

  @Override
  public long readF32(int address) {
    return readInt(address);
  }

  @Override
  public void writeF32(int address, float value) {
    FLOAT.set(bytes, address, value);
  }

  @Override
  public double readDouble(int address) {
    return (double) DOUBLE.get(bytes, address);
  }

  @Override
  public long readF64(int address) {
    return readLong(address);
  }

  @Override
  public void writeF64(int address, double value) {
    DOUBLE.set(bytes, address, value);
  }

  // ---- threads within one instance, which there are none of ----

  @Override
  public boolean shared() {
    return false;
  }

  @Override
  public Object lock(int address) {
    throw new UnsupportedOperationException("a memory of one thread");
  }

  @Override
  public int waitOn(int address, int expected, long timeout) {
    throw new UnsupportedOperationException("a memory of one thread");
  }

  @Override
  public int waitOn(int address, long expected, long timeout) {
    throw new UnsupportedOperationException("a memory of one thread");
  }

  @Override
  public int notify(int address, int threads) {
    throw new UnsupportedOperationException("a memory of one thread");
  }
}
