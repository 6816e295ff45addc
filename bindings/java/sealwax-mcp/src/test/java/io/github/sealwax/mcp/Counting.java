package io.github.sealwax.mcp;

import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Instance;
import io.github.sealwax.internal.InstanceProvider;
import io.github.sealwax.internal.portable.PortableProvider;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts the exchanges that live in the instances which it makes. */
final class Counting implements InstanceProvider {
  private static final Set<Integer> BEGIN =
      Set.of(Frame.MESSAGE, Frame.HTTP, Frame.REVOCATION, Frame.HANDLE);

  /** A status that no function has. */
  private static final long REFUSED = 99;

  final AtomicInteger begun = new AtomicInteger();
  final AtomicInteger freed = new AtomicInteger();

  /** The kind of the next frame that breaks its instance, as a bug would; 0 for none. */
  volatile int breaks;

  /** The kind of the frame that breaks the instance after that one; 0 for none. */
  volatile int breaksNext;

  /** Which of the next calls that set keys is refused; 0 for none. */
  final AtomicInteger refuses = new AtomicInteger();

  @Override
  public Instance instantiate() {
    return (Instance)
        Proxy.newProxyInstance(
            Instance.class.getClassLoader(), new Class<?>[] {Instance.class}, new Counted());
  }

  private final class Counted implements InvocationHandler {
    private final Instance inner = new PortableProvider().instantiate();

    /** The addresses of the exchanges. */
    private final Set<Long> exchanges = new HashSet<>();

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
      if (method.getName().equals("call")) {
        return call((Function) arguments[0], (long[]) arguments[1]);
      }
      try {
        return method.invoke(inner, arguments);
      } catch (InvocationTargetException failed) {
        throw failed.getCause();
      }
    }

    private long call(Function function, long[] arguments) {
      if (function == Function.CODEC_SET_KEYS && refuses.getAndDecrement() == 1) {
        return REFUSED;
      }
      boolean makes = function == Function.MACHINE_NEW;
      int kind =
          makes || function == Function.MACHINE_ON ? inner.readByte(arguments[makes ? 2 : 1]) : 0;
      if (kind != 0 && kind == breaks) {
        breaks = breaksNext;
        breaksNext = 0;
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
  }
}
