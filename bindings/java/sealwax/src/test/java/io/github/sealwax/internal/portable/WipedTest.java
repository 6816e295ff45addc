package io.github.sealwax.internal.portable;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.View;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Library;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an instance's memory holds of keys and payloads between calls. */
class WipedTest {
  private static final String SECRET = "the payload that nobody may find";

  private final List<PortableInstance> instances = new ArrayList<>();
  private final Library library =
      Library.of(
          () -> {
            PortableInstance made = new PortableInstance(Environment.SYSTEM);
            instances.add(made);
            return made;
          },
          1);

  private int found(String text) {
    // Not the needle's own bytes: this is a copy of the memory.
    String memory = new String(instances.get(0).memory.array(), US_ASCII);
    int count = 0;
    for (int at = memory.indexOf(text); at >= 0; at = memory.indexOf(text, at + 1)) {
      count++;
    }
    return count;
  }

  @Test
  void payloadsAndKeyTextsAreWiped() {
    Key key = Key.generate();
    Codec codec =
        Access.build(Codec.builder("a").keys(KeyRing.of(key)).payloadLimit(1 << 20), library);
    View view = codec.view(Principal.subject("alice"));
    for (String payload : new String[] {SECRET, SECRET.repeat(20_000)}) {
      String token = view.session().seal(payload.getBytes(US_ASCII));
      assertEquals(payload, new String(view.session().open(token).payload(), US_ASCII));
      view.sessions().create(payload.getBytes(US_ASCII));
      assertEquals(0, found(SECRET));
    }
    codec.setKeys(KeyRing.parse(key.toText() + " " + Key.generate().toText()));
    assertEquals(0, found(key.toText()));
    assertTrue(found("sealwax") > 0, "this finds texts");
  }
}
