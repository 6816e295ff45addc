package io.github.sealwax.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.InternalErrorException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.RefusedException;
import io.github.sealwax.Session;
import io.github.sealwax.Sessions;
import io.github.sealwax.View;
import io.github.sealwax.internal.portable.Environment;
import io.github.sealwax.internal.portable.PortableProvider;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fault ends an instance, and what lived in it; the next call works. */
class FaultsTest {
  private static final byte[] PAYLOAD = {1, 2, 3};

  private final AtomicBoolean broken = new AtomicBoolean();

  /**
   * The module reads the clock in the middle of sealing: an exception there passes through its
   * code.
   */
  private final Library library =
      Library.of(
          new PortableProvider(
              new Environment() {
                @Override
                public long nanoseconds() {
                  if (broken.compareAndSet(true, false)) {
                    throw new IllegalStateException("a fault");
                  }
                  return SYSTEM.nanoseconds();
                }

                @Override
                public void fill(byte[] bytes) {
                  SYSTEM.fill(bytes);
                }
              }),
          1);

  private final Codec codec =
      Access.build(Codec.builder("a").keys(KeyRing.of(Key.generate())), library);
  private final View view = codec.view(Principal.subject("alice"));

  private void breaks() {
    broken.set(true);
    var fault = assertThrows(InternalErrorException.class, () -> view.session().seal(PAYLOAD));
    assertNotNull(fault.getCause());
  }

  @Test
  void whatLivedThereIsLostAndTheNextCallWorks() {
    Sessions sessions = view.sessions();
    String token = view.session().seal(PAYLOAD);
    for (int again = 0; again < 3; again++) {
      Session lost = sessions.open(sessions.create(PAYLOAD).toMap());
      breaks();
      var told = assertThrows(InternalErrorException.class, () -> sessions.renew(lost, PAYLOAD));
      assertEquals("an earlier fault ended it", told.getMessage());
      assertArrayEquals(PAYLOAD, view.session().open(token).payload());
      assertArrayEquals(PAYLOAD, view.session().open(view.session().seal(PAYLOAD)).payload());
      sessions.renew(sessions.open(sessions.create(PAYLOAD).toMap()), PAYLOAD);
    }
    // Keys that changed stay changed, and a view keeps its own.
    codec.setKeys(KeyRing.of(Key.generate()));
    breaks();
    String ofNext = codec.view(Principal.subject("alice")).session().seal(PAYLOAD);
    assertThrows(RefusedException.class, () -> view.session().open(ofNext));
    view.session().open(view.session().seal(PAYLOAD));
  }

  /** An instance of which one function fails at its call of a number. */
  private static final class Failing {
    final Instance instance = new PortableProvider().instantiate();
    int calls;
    boolean dropped;

    /** {@code outcome} is thrown, or returned. */
    Instance at(String function, int number, Object outcome) {
      return Intercepted.around(
          instance,
          (name, arguments) -> {
            dropped |= name.equals("drop");
            if (!name.equals(function) || ++calls != number) {
              return null;
            }
            if (outcome instanceof Throwable fault) {
              throw fault;
            }
            return outcome;
          });
    }
  }

  /** What takes memory beside the scratch, and what does not. */
  private static final byte[] LARGE = new byte[1 << 17];

  /**
   * Each call into an instance fails once: one call of ours is told so, or none is, and all work
   * again.
   */
  @ParameterizedTest
  @ValueSource(strings = {"call", "allocate", "free", "no memory"})
  void eachCallMayFail(String name) {
    int told = 0;
    boolean noMemory = name.equals("no memory");
    for (int at = 1; ; at++) {
      Throwable fault = at % 2 == 0 ? new StackOverflowError() : new IllegalStateException();
      Failing failing = new Failing();
      Instance first = failing.at(noMemory ? "allocate" : name, at, noMemory ? (Object) 0L : fault);
      AtomicBoolean begun = new AtomicBoolean();
      // The first instance fails, and the ones after it are sound.
      Library sound =
          Library.of(() -> begun.getAndSet(true) ? new PortableProvider().instantiate() : first, 1);
      int failed = 0;
      View made = null;
      for (int again = 0; made == null; again++) {
        try {
          made = build(sound).view(Principal.subject("alice"));
        } catch (InternalErrorException expected) {
          assertEquals(0, again);
          failed++;
        }
      }
      View alice = made;
      Session stays = null;
      for (Supplier<Session> work :
          List.<Supplier<Session>>of(
              () -> alice.sessions().open(alice.sessions().create(LARGE).toMap()),
              () -> null,
              () -> {
                String token = alice.session().seal(LARGE);
                assertArrayEquals(LARGE, alice.session().open(token).payload());
                return null;
              })) {
        try {
          Session opened = work.get();
          stays = stays == null ? opened : stays;
        } catch (InternalErrorException expected) {
          failed++;
          work.get();
        }
      }
      if (failing.calls < at) {
        break;
      }
      assertTrue(failed <= 1, name + " " + at + ": " + failed);
      told += failed;
      if (noMemory) {
        // It is no fault of the instance: what lives there stays.
        assertFalse(failing.dropped);
        if (stays != null) {
          alice.sessions().renew(stays, new byte[1]);
        }
      } else if (!name.equals("allocate") || at > 1) {
        // The first allocation makes it: it has held nothing yet.
        assertTrue(failing.dropped, name + " " + at);
        assertArrayEquals(new byte[1 << 17], failing.instance.read(1 << 17, 1 << 17));
      }
    }
    assertEquals(!name.equals("free"), told > 0);
  }

  private static Codec build(Library library) {
    return Access.build(
        Codec.builder("a").keys(KeyRing.of(Key.generate())).payloadLimit(1 << 18), library);
  }

  @Test
  void aTimeIsTheNearestThatThereIs() {
    assertEquals(0, Environment.nanosecondsOf(Instant.MIN));
    assertEquals(0, Environment.nanosecondsOf(Instant.ofEpochSecond(-1)));
    assertEquals(7_000_000_008L, Environment.nanosecondsOf(Instant.ofEpochSecond(7, 8)));
    assertEquals(Long.MAX_VALUE, Environment.nanosecondsOf(Instant.MAX));
    // Where the nanoseconds in 64 bits are those of 2026.
    Instant again = Instant.ofEpochSecond(1_780_000_000L + 18_446_744_073L);
    assertEquals(Long.MAX_VALUE, Environment.nanosecondsOf(again));
  }
}
