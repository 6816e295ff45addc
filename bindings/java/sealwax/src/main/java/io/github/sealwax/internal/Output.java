package io.github.sealwax.internal;

import java.nio.charset.StandardCharsets;

/** Room for a result: the arguments {@code out}, {@code cap} and {@code len} of a function. */
public final class Output {
  private final Call call;
  private final long length;
  private final long address;
  private final int capacity;

  Output(Call call, long length, long address, int capacity) {
    this.call = call;
    this.length = length;
    this.address = address;
    this.capacity = capacity;
  }

  /** Returns {@code out}. */
  long address() {
    return address;
  }

  /** Returns {@code cap}. */
  long capacity() {
    return capacity;
  }

  /** Returns {@code len}. */
  long length() {
    return length;
  }

  /** Returns what was written. */
  public byte[] bytes() {
    return call.read(address, (int) call.readWord(length));
  }

  /** Returns the ASCII that was written. */
  public String ascii() {
    return new String(bytes(), StandardCharsets.ISO_8859_1);
  }
}
