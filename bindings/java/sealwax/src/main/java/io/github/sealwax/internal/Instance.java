package io.github.sealwax.internal;

/**
 * One address space with the functions of {@code sealwax.h}: an instance of the portable module, or
 * the C library. One thread at a time uses it. Numbers are little-endian.
 */
public interface Instance {
  /** Returns the size in bytes of a pointer and of {@code size_t}: 4 or 8. */
  int pointerSize();

  /**
   * Calls a function and returns its result, 0 if it has none. Numbers of fewer than 64 bits are
   * sign-extended or not: both are accepted, either may be returned.
   *
   * @throws RuntimeException if the instance broke; nothing may be called in it again. So does an
   *     {@link Error} of the virtual machine, such as a stack overflow.
   */
  long call(Function function, long[] arguments);

  /** Returns the address of new memory, aligned to 16; 0 if there is none. */
  long allocate(int size);

  /** Wipes and frees what {@link #allocate} returned. */
  void free(long address, int size);

  /** Copies to memory. */
  void write(long address, byte[] source);

  /** Writes 4 bytes. */
  void writeInt(long address, int value);

  /** Writes 8 bytes. */
  void writeLong(long address, long value);

  /** Copies from memory. */
  byte[] read(long address, int length);

  /** Reads a byte. */
  byte readByte(long address);

  /** Reads 4 bytes. */
  int readInt(long address);

  /** Reads 8 bytes. */
  long readLong(long address);

  /** Overwrites memory with zeros. */
  void wipe(long address, int size);

  /** Wipes all of its memory, after it broke. */
  default void drop() {}
}
