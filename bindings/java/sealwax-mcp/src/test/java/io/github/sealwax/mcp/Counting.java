package io.github.sealwax.mcp;

import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Instance;
import io.github.sealwax.internal.InstanceProvider;
import io.github.sealwax.internal.portable.PortableProvider;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the exchanges that live in the instances which it makes. */
final class Counting implements InstanceProvider {
  private static final Set<Integer> BEGIN =
      Set.of(Frame.MESSAGE, Frame.HTTP, Frame.REVOCATION, Frame.HANDLE);

  final AtomicInteger begun = new AtomicInteger();
  final AtomicInteger freed = new AtomicInteger();

  /** The kind of the next frame that breaks its instance, as a bug would; 0 for none. */
  volatile int breaks;

  @Override
  public Instance instantiate() {
    return new Counted(new PortableProvider().instantiate());
  }

  private final class Counted implements Instance {
    private final Instance inner;

    /** The addresses of the exchanges. */
    private final Set<Long> exchanges = new HashSet<>();

    Counted(Instance inner) {
      this.inner = inner;
    }

    @Override
    public long call(Function function, long[] arguments) {
      boolean makes = function == Function.MACHINE_NEW;
      int kind =
          makes || function == Function.MACHINE_ON ? inner.readByte(arguments[makes ? 2 : 1]) : 0;
      if (kind != 0 && kind == breaks) {
        breaks = 0;
        throw new IllegalStateException("unreachable");
      }
      long status = inner.call(function, arguments);
      if (BEGIN.contains(kind) && (int) status == 0) {
        begun.incrementAndGet();
        exchanges.add((long) inner.readInt(arguments[4]));
      } else if (function == Function.MACHINE_FREE && exchanges.remove(arguments[0])) {
        freed.incrementAndGet();
      }
      return status;
    }

    @Override
    public int pointerSize() {
      return inner.pointerSize();
    }

    @Override
    public long allocate(int size) {
      return inner.allocate(size);
    }

    @Override
    public void free(long address, int size) {
      inner.free(address, size);
    }

    @Override
    public void write(long address, byte[] source) {
      inner.write(address, source);
    }

    @Override
    public void writeInt(long address, int value) {
      inner.writeInt(address, value);
    }

    @Override
    public void writeLong(long address, long value) {
      inner.writeLong(address, value);
    }

    @Override
    public byte[] read(long address, int length) {
      return inner.read(address, length);
    }

    @Override
    public byte readByte(long address) {
      return inner.readByte(address);
    }

    @Override
    public int readInt(long address) {
      return inner.readInt(address);
    }

    @Override
    public long readLong(long address) {
      return inner.readLong(address);
    }

    @Override
    public void wipe(long address, int size) {
      inner.wipe(address, size);
    }
  }
}
