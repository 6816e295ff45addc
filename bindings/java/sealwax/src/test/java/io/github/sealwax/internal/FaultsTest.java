package io.github.sealwax.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.sealwax.Codec;
import io.github.sealwax.InternalErrorException;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.Session;
import io.github.sealwax.Sessions;
import io.github.sealwax.View;
import io.github.sealwax.internal.portable.Environment;
import io.github.sealwax.internal.portable.PortableProvider;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A fault ends an instance, and what lived in it; the next call works. */
class FaultsTest {
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

  @Test
  void theNextCallWorks() {
    byte[] payload = {1, 2, 3};
    String token = view.session().seal(payload);
    for (int again = 0; again < 3; again++) {
      broken.set(true);
      var fault = assertThrows(InternalErrorException.class, () -> view.session().seal(payload));
      assertNotNull(fault.getCause());
      assertArrayEquals(payload, view.session().open(token).payload());
      assertArrayEquals(payload, view.session().open(view.session().seal(payload)).payload());
    }
  }

  @Test
  void whatLivedThereIsLost() {
    Sessions sessions = view.sessions();
    Session lost = sessions.open(sessions.create(new byte[1]).toMap());
    broken.set(true);
    assertThrows(InternalErrorException.class, () -> view.session().seal(new byte[1]));
    var told = assertThrows(InternalErrorException.class, () -> sessions.renew(lost, new byte[1]));
    assertEquals("an earlier fault ended it", told.getMessage());
    Session next = sessions.open(sessions.create(new byte[1]).toMap());
    sessions.renew(next, new byte[1]);
  }

  @Test
  void keysThatChangedStayChanged() {
    View before = codec.view(Principal.subject("alice"));
    Key other = Key.generate();
    codec.setKeys(KeyRing.of(other));
    broken.set(true);
    assertThrows(InternalErrorException.class, () -> view.session().seal(new byte[1]));
    String token = codec.view(Principal.subject("alice")).session().seal(new byte[1]);
    assertThrows(io.github.sealwax.RefusedException.class, () -> before.session().open(token));
    before.session().open(before.session().seal(new byte[1]));
  }
}
