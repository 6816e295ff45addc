package io.github.sealwax.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Inspected;
import io.github.sealwax.InternalErrorException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.View;
import io.github.sealwax.internal.portable.PortableProvider;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys change in every shard or in none, whatever fails. */
class KeysChangeTest {
  private static final int SHARDS = 3;

  private final AtomicInteger untilFault = new AtomicInteger();
  private boolean isStatus;

  /** Its instances fail at one call that sets keys. */
  private final Library library =
      Library.of(
          () -> {
            Instance instance = new PortableProvider().instantiate();
            return (Instance)
                Proxy.newProxyInstance(
                    Instance.class.getClassLoader(),
                    new Class<?>[] {Instance.class},
                    (proxy, method, arguments) -> {
                      boolean setsKeys =
                          method.getName().equals("call")
                              && arguments[0] == Function.CODEC_SET_KEYS;
                      if (setsKeys && untilFault.getAndDecrement() == 1) {
                        if (isStatus) {
                          return 99L;
                        }
                        throw new IllegalStateException("a fault");
                      }
                      try {
                        return method.invoke(instance, arguments);
                      } catch (InvocationTargetException failed) {
                        throw failed.getCause();
                      }
                    });
          },
          SHARDS);

  private final Key first = Key.generate();
  private final Key second = Key.generate();
  private final Codec codec = Access.build(Codec.builder("a").keys(KeyRing.of(first)), library);

  /** Runs {@code body} in one shard, while threads are in the others. */
  private <T> T in(int index, Supplier<T> body) throws InterruptedException {
    CountDownLatch done = new CountDownLatch(1);
    List<Thread> others = new ArrayList<>();
    for (int other = 0; other < SHARDS; other++) {
      int busy = other;
      if (busy != index) {
        CountDownLatch entered = new CountDownLatch(1);
        others.add(
            new Thread(
                () ->
                    library.crossIn(
                        busy,
                        x -> {
                          entered.countDown();
                          awaited(done);
                          return null;
                        })));
        others.get(others.size() - 1).start();
        entered.await();
      }
    }
    try {
      return body.get();
    } finally {
      done.countDown();
      for (Thread other : others) {
        other.join();
      }
    }
  }

  private static void awaited(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String sealer() {
    try (View alice = codec.view(Principal.subject("alice"))) {
      return ((Inspected.Token) Inspected.of(alice.session().seal(new byte[1]))).keyId();
    }
  }

  private List<String> sealers() throws InterruptedException {
    List<String> sealers = new ArrayList<>();
    for (int index = 0; index < SHARDS; index++) {
      sealers.add(in(index, this::sealer));
    }
    return sealers;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everywhereOrNowhere(boolean isStatus) throws InterruptedException {
    this.isStatus = isStatus;
    int thrown = 0;
    Key before = first;
    for (int at = 1; at <= SHARDS + 1; at++) {
      assertEquals(1, sealers().stream().distinct().count());
      Key next = Key.generate();
      untilFault.set(at);
      boolean changed;
      try {
        changed = codec.setKeys(KeyRing.of(next));
      } catch (InternalErrorException fault) {
        thrown++;
        changed = false;
      }
      untilFault.set(0);
      Key wanted = changed ? next : before;
      assertEquals(List.of(wanted.id(), wanted.id(), wanted.id()), sealers(), "call " + at);
      before = wanted;
    }
    assertEquals(1, thrown);
  }

  @Test
  void aViewStaysValidInEveryShard() throws InterruptedException {
    View alice = codec.view(Principal.subject("alice"));
    String token = alice.session().seal(new byte[1]);
    assertTrue(codec.setKeys(KeyRing.of(second)));
    codec.close();
    for (int index = 0; index < SHARDS; index++) {
      assertEquals(1, in(index, () -> alice.session().open(token).payload().length));
    }
  }
}
