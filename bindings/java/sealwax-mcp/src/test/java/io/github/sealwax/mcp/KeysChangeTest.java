package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Inspected;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Instance;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.portable.PortableProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A guard has the present keys in every shard, also in one where they failed to be set. */
class KeysChangeTest {
  private final AtomicInteger untilFault = new AtomicInteger();

  /** Its instances refuse one call that sets keys. */
  private final Library library =
      Library.of(
          () -> {
            Instance instance = new PortableProvider().instantiate();
            return (Instance)
                Proxy.newProxyInstance(
                    Instance.class.getClassLoader(),
                    new Class<?>[] {Instance.class},
                    (proxy, method, arguments) -> {
                      if (method.getName().equals("call")
                          && arguments[0] == Function.CODEC_SET_KEYS
                          && untilFault.getAndDecrement() == 1) {
                        return 99L;
                      }
                      try {
                        return method.invoke(instance, arguments);
                      } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                      }
                    });
          },
          2);

  private final Codec codec =
      Access.build(Codec.builder("a").keys(KeyRing.of(Key.generate())), library);
  private final Engine engine = new Engine(codec, Map.of());

  private Runnable first = busy();
  private Runnable second;

  /** Takes the first shard that is free; returns what gives it back. */
  private Runnable busy() {
    CountDownLatch taken = new CountDownLatch(1);
    CountDownLatch done = new CountDownLatch(1);
    Thread holder =
        new Thread(
            () ->
                library.cross(
                    x -> {
                      taken.countDown();
                      return awaited(done);
                    }));
    holder.setDaemon(true);
    holder.start();
    awaited(taken);
    return () -> {
      done.countDown();
      try {
        holder.join();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    };
  }

  private static Object awaited(CountDownLatch latch) {
    try {
      latch.await();
      return latch;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @AfterEach
  void release() {
    first.run();
    if (second != null) {
      second.run();
    }
  }

  /** Returns the id of the key that seals a state of a guard's. */
  private String sealer() {
    var message =
        new Engine.Message(
            "tools/call",
            "t",
            null,
            null,
            null,
            null,
            Map.of("subject", "u"),
            null,
            false,
            true,
            null);
    Engine.Begun begun = engine.message(message, engine.tokenFields("tools/call"));
    try (Engine.Exchange exchange = begun.exchange()) {
      return ((Inspected.Token) Inspected.of(exchange.sealState("1"))).keyId();
    }
  }

  @Test
  void aGuardHasThePresentKeysInEveryShard() {
    // In the second shard while the first one is busy, as always from now on.
    sealer();
    first.run();
    Key next = Key.generate();
    untilFault.set(2);
    assertTrue(codec.setKeys(KeyRing.of(next)));
    assertTrue(untilFault.get() <= 0);
    first = busy();
    assertEquals(next.id(), sealer(), "in the second shard");
    second = busy();
    first.run();
    assertEquals(next.id(), sealer(), "in the first shard");
  }
}
