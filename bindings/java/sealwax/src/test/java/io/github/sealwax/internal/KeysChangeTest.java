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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys change in every pooled instance or in none, whatever fails. */
class KeysChangeTest {
  private static final int INSTANCES = 3;

  private final AtomicInteger untilFault = new AtomicInteger();
  private boolean isStatus;

  /** Its instances fail at one call that sets keys. */
  private final Library library =
      Library.of(
          () ->
              Intercepted.instance(
                  (name, arguments) -> {
                    if (!Intercepted.setsKeys(name, arguments)
                        || untilFault.getAndDecrement() != 1) {
                      return null;
                    }
                    if (isStatus) {
                      return 99L;
                    }
                    throw new IllegalStateException("a fault");
                  }),
          INSTANCES);

  private final Key first = Key.generate();
  private final Key second = Key.generate();
  private final Codec codec = Access.build(Codec.builder("a").keys(KeyRing.of(first)), library);

  /** Runs {@code body} in one pooled instance, while threads are in the others. */
  private <T> T in(int index, Supplier<T> body) {
    return in(index, 0, body);
  }

  private <T> T in(int index, int next, Supplier<T> body) {
    if (next == INSTANCES) {
      return body.get();
    }
    Supplier<T> more = () -> in(index, next + 1, body);
    return next == index
        ? more.get()
        : library.callIn(next, x -> CompletableFuture.supplyAsync(more).join());
  }

  private String sealer() {
    try (View alice = codec.view(Principal.subject("alice"))) {
      return ((Inspected.Token) Inspected.of(alice.session().seal(new byte[1]))).keyId();
    }
  }

  private List<String> sealers() {
    return IntStream.range(0, INSTANCES).mapToObj(index -> in(index, this::sealer)).toList();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void everywhereOrNowhere(boolean isStatus) {
    this.isStatus = isStatus;
    int thrown = 0;
    Key before = first;
    for (int at = 1; at <= INSTANCES + 1; at++) {
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
  void aViewStaysValidInEveryPooledInstance() {
    View alice = codec.view(Principal.subject("alice"));
    String token = alice.session().seal(new byte[1]);
    assertTrue(codec.setKeys(KeyRing.of(second)));
    codec.close();
    for (int index = 0; index < INSTANCES; index++) {
      assertEquals(1, in(index, () -> alice.session().open(token).payload().length));
    }
  }
}
