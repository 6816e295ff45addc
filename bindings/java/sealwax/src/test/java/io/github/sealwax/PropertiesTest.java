package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.Assume;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.constraints.StringLength;

/** Whatever comes in: what was sealed opens, and nothing else does. */
class PropertiesTest {
  private final Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com");
  private final Sealer session = codec.view(Principal.subject("alice")).session();

  @Property(tries = 300)
  void whatWasSealedOpens(@ForAll @Size(max = 4096) byte[] payload) {
    assertArrayEquals(payload, session.open(session.seal(payload)).payload());
  }

  @Property(tries = 300)
  void anyTextIsRefused(@ForAll String text) {
    refusal(() -> session.open(text));
    refusal(() -> session.open("sw1." + text));
    View view = codec.view(Principal.subject("alice"));
    refusal(() -> view.verifySessionId("sess_" + text));
    refusal(() -> view.verifyHandle("tx", "tx_" + text));
    refusal(() -> view.sessions().openJson(text));
    assertThrows(SealwaxException.class, () -> Inspected.of(text));
    view.close();
  }

  @Property(tries = 300)
  void anAlteredTokenIsRefused(
      @ForAll @Size(max = 100) byte[] payload,
      @ForAll @IntRange(max = 10_000) int at,
      @ForAll char other) {
    String token = session.seal(payload);
    int place = at % token.length();
    Assume.that(token.charAt(place) != other);
    refusal(() -> session.open(token.substring(0, place) + other + token.substring(place + 1)));
  }

  @Property(tries = 200)
  void aPrincipalIsItsParts(
      @ForAll @StringLength(min = 1, max = 50) String one,
      @ForAll @StringLength(min = 1, max = 50) String other) {
    Assume.that(!one.equals(other) && valid(one) && valid(other));
    try (View mine = codec.view(Principal.of(one, other, null));
        View theirs = codec.view(Principal.of(other, one, null))) {
      String token = mine.session().seal(new byte[1]);
      mine.session().open(token);
      assertEquals(
          Code.PRINCIPAL_MISMATCH,
          assertThrows(RefusedException.class, () -> theirs.session().open(token)).code());
    }
  }

  @Property(tries = 300)
  void jsonIsReadOrRefused(@ForAll String arguments) {
    try {
      RequestContext.ofJson("tools/call", "x", arguments);
    } catch (InvalidArgumentException refused) {
      assertTrue(refused.getMessage().length() > 0);
    }
  }

  private static boolean valid(String text) {
    return text.codePoints().noneMatch(point -> point >= 0xD800 && point <= 0xDFFF);
  }

  private static void refusal(Runnable call) {
    assertThrows(RefusedException.class, call::run);
  }
}
