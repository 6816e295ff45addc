package io.github.sealwax.internal;

import org.jspecify.annotations.Nullable;

/**
 * A struct in scratch memory, written member by member in its order, each at its natural alignment.
 */
public final class Struct {
  private final Call call;
  private final long address;
  private int used;

  Struct(Call call, long address) {
    this.call = call;
    this.address = address;
  }

  /** Returns where it is. */
  public long address() {
    return address;
  }

  /** Adds a number of 32 bits. */
  public Struct integer(int value) {
    call.writeInt(next(4), value);
    return this;
  }

  /** Adds a {@code bool}, as the last member. */
  public Struct last(boolean value) {
    call.writeInt(next(4), value ? 1 : 0);
    return this;
  }

  /** Adds a number of 64 bits. */
  public Struct number(long value) {
    call.writeLong(next(8), value);
    return this;
  }

  /** Adds a pointer or a size. */
  public Struct word(long value) {
    call.writeWord(next(call.pointerSize()), value);
    return this;
  }

  /** Adds a pointer to a copy of the bytes, and their size; both 0 for {@code null}. */
  public Struct bytes(byte @Nullable [] bytes) {
    return word(call.bytes(bytes)).word(bytes == null ? 0 : bytes.length);
  }

  private long next(int size) {
    int at = (used + size - 1) & -size;
    used = at + size;
    return address + at;
  }
}
