package io.github.sealwax.internal;

import io.github.sealwax.internal.portable.PortableProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** An instance of the module whose calls may end otherwise. */
public final class Intercepted {
  private Intercepted() {}

  /** Asked before each call: returns what stands for its result, or null, or throws. */
  public interface Before {
    @Nullable Object call(String name, Object[] arguments) throws Throwable;
  }

  public static Instance instance(Before before) {
    return around(new PortableProvider().instantiate(), before);
  }

  static Instance around(Instance inner, Before before) {
    return (Instance)
        Proxy.newProxyInstance(
            Instance.class.getClassLoader(),
            new Class<?>[] {Instance.class},
            (proxy, method, arguments) -> {
              Object instead = before.call(method.getName(), arguments);
              if (instead != null) {
                return instead;
              }
              try {
                return method.invoke(inner, arguments);
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
  }

  /** Whether a call sets the keys of a codec. */
  public static boolean setsKeys(String name, Object[] arguments) {
    return name.equals("call") && arguments[0] == Function.CODEC_SET_KEYS;
  }
}
