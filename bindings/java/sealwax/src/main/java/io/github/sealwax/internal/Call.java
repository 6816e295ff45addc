package io.github.sealwax.internal;

import io.github.sealwax.InternalErrorException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One use of an instance: calls of functions, and the scratch memory for their arguments and
 * results. It is valid within {@link Library#call} alone; the scratch memory is wiped when that
 * returns.
 */
public final class Call {
  private static final int SCRATCH = 1 << 16;
  private static final int ERROR_SIZE = 256;
  private static final int MESSAGE = 4;
  private static final int MOST_ARGUMENTS = 24;

  private final PooledInstance pooled;
  private final Instance instance;
  private final int pointerSize;
  private final long scratch;
  private final long error;

  /** The arguments of the next call. */
  private final long[] arguments = new long[MOST_ARGUMENTS];

  private int count;

  /** The size of the part of the scratch memory that is in use. */
  private int used = ERROR_SIZE;

  /** What had no room in the scratch memory. */
  private final List<Block> blocks = new ArrayList<>();

  /** Whether a document of this call may be deep. */
  private boolean deep;

  private boolean broken;

  private record Block(long address, int size) {}

  Call(PooledInstance pooled, Instance instance) {
    this.pooled = pooled;
    this.instance = instance;
    pointerSize = instance.pointerSize();
    scratch = allocate(SCRATCH);
    error = scratch;
  }

  PooledInstance pooled() {
    return pooled;
  }

  // ---- calls ----

  /** Adds arguments of the next call. */
  public Call with(long... words) {
    System.arraycopy(words, 0, arguments, count, words.length);
    count += words.length;
    return this;
  }

  /** Adds texts or documents, each with its size after it. */
  public Call withBytes(byte @Nullable []... texts) {
    for (byte[] text : texts) {
      with(bytes(text), text == null ? 0 : text.length);
    }
    return this;
  }

  /** Adds a payload, and its size. */
  public Call withOpaque(byte[] payload) {
    return with(opaque(payload), payload.length);
  }

  /** Adds the room for a result. */
  public Call withOutput(Output out) {
    return with(out.address(), out.capacity(), out.length());
  }

  /**
   * Calls a function that returns a status: with what was added, these arguments, and its error as
   * the last one.
   *
   * @throws io.github.sealwax.SealwaxException for any status but 0
   */
  public void call(Function function, long... last) {
    with(last).with(error);
    long[] all = Arrays.copyOf(arguments, count);
    count = 0;
    int status = (int) plain(function, all);
    if (status != 0) {
      throw Failures.of(status, message());
    }
  }

  /** Calls a function that returns so many words, and returns where they are, each 8 bytes long. */
  public long callFor(Function function, int words) {
    long places = room(8 * words);
    for (int at = 0; at < words; at++) {
      with(places + 8L * at);
    }
    call(function);
    return places;
  }

  /** Calls a function without an error, and returns its result. */
  public long plain(Function function, long... arguments) {
    try {
      return deep
          ? LargeStack.run(() -> instance.call(function, arguments))
          : instance.call(function, arguments);
    } catch (RuntimeException | Error fault) {
      broken = true;
      throw new InternalErrorException(
          function.symbol() + ": the instance stopped: " + fault, fault);
    }
  }

  private String message() {
    int end = 0;
    while (instance.readByte(error + MESSAGE + end) != 0) {
      end++;
    }
    return new String(instance.read(error + MESSAGE, end), StandardCharsets.UTF_8);
  }

  // ---- scratch memory ----

  /** Returns the address of uninitialized memory, aligned to 8. */
  public long room(int size) {
    int at = (used + 7) & -8;
    if (size > SCRATCH - at) {
      return large(size);
    }
    used = at + size;
    return scratch + at;
  }

  private long large(int size) {
    long address = allocate(size);
    blocks.add(new Block(address, size));
    return address;
  }

  private long allocate(int size) {
    long address;
    try {
      address = instance.allocate(size);
    } catch (RuntimeException | Error fault) {
      broken = true;
      throw new InternalErrorException("no memory: the instance stopped: " + fault, fault);
    }
    if (address == 0) {
      throw new InternalErrorException("expected memory for " + size + " bytes, found none", null);
    }
    return address;
  }

  /**
   * Copies a text, a document or bytes; {@code null} is the address 0. If it is a deep document,
   * the calls of this call run where the stack is large enough.
   */
  public long bytes(byte @Nullable [] bytes) {
    deep |= bytes != null && LargeStack.mayNeed(bytes);
    return opaque(bytes);
  }

  /**
   * Copies a token or a payload, which the core does not read as JSON; {@code null} is the address
   * 0.
   */
  public long opaque(byte @Nullable [] bytes) {
    if (bytes == null) {
      return 0;
    }
    long address = room(bytes.length);
    instance.write(address, bytes);
    return address;
  }

  /** Copies a text or a document to where there is room for it, as {@link #bytes} does. */
  void write(long address, byte[] bytes) {
    deep |= LargeStack.mayNeed(bytes);
    instance.write(address, bytes);
  }

  /** Returns a pointer to a number of 64 bits; {@code null} is the address 0. */
  public long number(@Nullable Long number) {
    if (number == null) {
      return 0;
    }
    long address = room(8);
    instance.writeLong(address, number);
    return address;
  }

  /** Returns a struct to fill in member by member, of {@code size} bytes at most. */
  public Struct struct(int size) {
    return new Struct(this, room(size));
  }

  /** Returns the room for a result of up to {@code capacity} bytes. */
  public Output output(int capacity) {
    return new Output(this, room(8), room(capacity), capacity);
  }

  /** Writes 4 bytes. */
  public void writeInt(long address, int value) {
    instance.writeInt(address, value);
  }

  /** Writes 8 bytes. */
  public void writeLong(long address, long value) {
    instance.writeLong(address, value);
  }

  /** Writes a pointer or a size. */
  public void writeWord(long address, long value) {
    if (pointerSize == 4) {
      instance.writeInt(address, (int) value);
    } else {
      instance.writeLong(address, value);
    }
  }

  /** Copies bytes from anywhere. */
  public byte[] read(long address, int length) {
    return instance.read(address, length);
  }

  /** Returns a byte as a truth value. */
  public boolean readBoolean(long address) {
    return instance.readByte(address) != 0;
  }

  /** Reads 4 bytes. */
  public int readInt(long address) {
    return instance.readInt(address);
  }

  /** Reads 8 bytes. */
  public long readLong(long address) {
    return instance.readLong(address);
  }

  /** Reads a pointer or a size. */
  public long readWord(long address) {
    return pointerSize == 4
        ? Integer.toUnsignedLong(instance.readInt(address))
        : instance.readLong(address);
  }

  /** Returns the size of a pointer: 4 or 8. */
  public int pointerSize() {
    return pointerSize;
  }

  // ---- its end ----

  /** Frees an object; returns whether the instance is still sound. */
  boolean free(Function function, long object) {
    try {
      plain(function, object);
    } catch (InternalErrorException fault) {
      return false;
    }
    return true;
  }

  /** Wipes the memory of an instance that broke. */
  void drop() {
    instance.drop();
  }

  /** Wipes the scratch memory; returns whether the instance is still sound. */
  boolean end() {
    if (broken) {
      return false;
    }
    instance.wipe(scratch, used);
    used = ERROR_SIZE;
    count = 0;
    deep = false;
    if (!blocks.isEmpty()) {
      try {
        for (Block block : blocks) {
          instance.free(block.address, block.size);
        }
      } catch (RuntimeException | Error fault) {
        // The call itself is done: the next one has another instance.
        return false;
      }
      blocks.clear();
    }
    return true;
  }
}
