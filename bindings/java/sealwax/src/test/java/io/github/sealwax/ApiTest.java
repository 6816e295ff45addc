package io.github.sealwax;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The Java layer: types, absence, exceptions by code, and nothing secret printed. */
class ApiTest {
  private static final String KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc";
  private static final byte[] PAYLOAD = "payload".getBytes(UTF_8);

  private final Codec codec = TestEnvironment.build(settings());
  private final View alice = codec.view(Principal.subject("alice"));

  private static CodecBuilder settings() {
    return Codec.builder("https://mcp.example.com").keys(KeyRing.parse(KEY));
  }

  private static void refused(Code code, Executable... calls) {
    for (Executable call : calls) {
      assertEquals(code, assertThrows(SealwaxException.class, call).code());
    }
  }

  @Test
  void everyKindOpensAsWhatItWasSealedAndAsNothingElse() {
    RequestContext context = RequestContext.of("tools/call", "delete_note", Map.of("id", 7));
    List<Sealer> sealers =
        List.of(
            alice.state(alice.mintSessionId()),
            alice.requestState(context),
            alice.session(),
            alice.cursor("tools/list"),
            alice.handleState("basket"),
            alice.custom("report"),
            alice.custom("report", "sess_x", context));
    for (Sealer sealer : sealers) {
      String token = sealer.seal(PAYLOAD);
      assertArrayEquals(PAYLOAD, sealer.open(token).payload());
      for (Sealer other : sealers) {
        if (other != sealer) {
          Code code = assertThrows(RefusedException.class, () -> other.open(token)).code();
          assertTrue(code == Code.WRONG_PURPOSE || code == Code.UNAUTHENTIC);
        }
      }
    }
  }

  @Test
  void anOpenedTokenIsAValue() {
    Sealer sealer = alice.session();
    String token = sealer.seal(PAYLOAD);
    Opened one = sealer.open(token);
    Opened other = sealer.open(token);
    assertEquals(one, other);
    assertEquals(one.hashCode(), other.hashCode());
    one.payload()[0] = 0;
    assertArrayEquals(PAYLOAD, one.payload());
    assertFalse(one.equals(sealer.open(sealer.seal(PAYLOAD))));
  }

  @Test
  void aLifetimeIsWholeSecondsInItsRange() {
    Sealer session = alice.session();
    for (long seconds : new long[] {0, -1, 1L << 32, Long.MAX_VALUE}) {
      Lifetime lifetime = Lifetime.of(Duration.ofSeconds(seconds));
      refused(Code.INVALID_ARGUMENT, () -> session.seal(PAYLOAD, lifetime));
    }
    Lifetime parts = Lifetime.of(Duration.ofMillis(1500));
    refused(Code.INVALID_ARGUMENT, () -> session.seal(PAYLOAD, parts));
    String token = session.seal(PAYLOAD);
    refused(Code.INVALID_ARGUMENT, () -> session.open(token, Duration.ofMillis(-1)));
  }

  @Test
  void aSessionGoesOnAndForks() {
    Sessions sessions = alice.sessions(Lifetime.of(Duration.ofSeconds(60)));
    SessionMetadata sent = sessions.create(PAYLOAD);
    assertEquals(sent.sessionId(), sessions.verify(sent.sessionId()).text());
    Session opened = sessions.open(sent.toMap());
    assertEquals(opened.issuedAt().plusSeconds(60), Instant.parse(sent.expiresAt()));
    Session next = sessions.openJson(sessions.renew(opened, new byte[2]).toJson());
    assertEquals(sent.sessionId() + " 1", next.id() + " " + next.generation());
    assertFalse(opened.equals(next));
    Session forked = sessions.open(sessions.fork(opened).toMap());
    assertArrayEquals(PAYLOAD, forked.payload());
    assertFalse(forked.id().equals(opened.id()));
  }

  @Test
  void withoutRandomnessNothingIsSealed() {
    TestEnvironment.current().denyRandom();
    try {
      refused(Code.ENTROPY_UNAVAILABLE, () -> alice.session().seal(PAYLOAD));
    } finally {
      TestEnvironment.current().reset();
    }
    alice.mintSessionId();
  }

  @Test
  void nobodyIsNoDefault() {
    refused(
        Code.INVALID_ARGUMENT,
        () -> codec.view(Principal.of(null, null, null)),
        () -> codec.view(Principal.of(null, "", "alice")),
        () -> alice.custom("note", "", null).seal(PAYLOAD));
    codec.view(Principal.anonymous()).mintSessionId();
  }

  @Test
  void loneSurrogates() {
    // Of the caller they are a mistake; of a client, whose JSON can hold them, a refusal.
    refused(
        Code.INVALID_ARGUMENT,
        () -> Codec.builder("\ud800").keys(KeyRing.parse(KEY)).build(),
        () -> codec.view(Principal.subject("\ud800")),
        () -> alice.cursor("\ud800"));
    refused(
        Code.MALFORMED,
        () -> alice.session().open("sw1.\ud800"),
        () -> alice.verifySessionId("\ud800"),
        () -> alice.verifyHandle("basket", "\ud800"),
        () -> alice.sessions().verify("\ud800"),
        () -> alice.sessions().openJson("{\"sessionId\":\"\ud800\",\"state\":\"x\"}"),
        () -> alice.sessions().open(Map.of("sessionId", "\ud800", "state", "x")),
        () -> Inspected.of("\ud800"));
  }

  @Test
  void requestsThatLanguagesReadDifferently() {
    refused(
        Code.INVALID_ARGUMENT,
        () -> RequestContext.of("tools/call", "x", Map.of("a", "\ud800")),
        () -> RequestContext.of("tools/call", "x", Map.of("\udfff", 1)),
        () -> RequestContext.of("tools/call", "x", Map.of("a", Double.NaN)),
        () -> RequestContext.of("tools/call", "x", Map.of("a", 9007199254740992.0)),
        () -> RequestContext.of("tools/call", "x", Map.of("a", 1), List.of("\ud800")),
        () -> RequestContext.of("tools/call", "x", Map.of("id", 7), List.of("i\0d")),
        () -> RequestContext.of("tools/call", "\ud800", null));
  }

  @Test
  void limits() {
    refused(
        Code.INVALID_ARGUMENT,
        settings().payloadLimit(-1)::build,
        settings().clockTolerance(Duration.ofSeconds(-1))::build,
        settings().keysInterval(Duration.ZERO)::build,
        Codec.builder("a")::build);
  }

  @Test
  void keysAndRings() {
    Key old = Key.generate();
    Key key = Key.parse(KEY);
    byte[] long33 = new byte[33];
    IntStream.range(0, 33).forEach(index -> long33[index] = (byte) index);
    Key imported = Key.fromSecret(long33);
    assertNull(imported.toText());
    KeyRing both = KeyRing.of(imported, old);
    assertEquals(List.of(key.id(), imported.id(), old.id()), KeyRing.of(key, both).ids());
    KeyRing none = null;
    refused(
        Code.INVALID_KEY,
        () -> KeyRing.of(old, both),
        () -> KeyRing.of(),
        () -> KeyRing.of(key, null),
        () -> Codec.of(none, "a"),
        () -> Key.fromSecret(new byte[31]));
  }

  @Test
  void objectsArePrintedByTheirIds() {
    assertEquals("Key a8ca0d4a", Key.parse(KEY).toString());
    assertEquals("KeyRing a8ca0d4a", KeyRing.parse(KEY).toString());
    assertEquals("Codec https://mcp.example.com, keys a8ca0d4a", codec.toString());
    assertEquals("View of " + codec, alice.toString());
  }

  @Test
  void whatTextsAre() {
    String token = alice.cursor("tools/list").seal(PAYLOAD);
    assertEquals(
        new Inspected.Token("cursor", "a8ca0d4a", alice.cursor("tools/list").open(token).tokenId()),
        Inspected.of(token));
    String id = alice.mintSessionId();
    assertEquals(
        new Inspected.SessionId("a8ca0d4a", alice.verifySessionId(id).createdAt()),
        Inspected.of(id));
    String handle = alice.mintHandle("basket");
    assertEquals(
        new Inspected.Handle("basket", alice.verifyHandle("basket", handle).createdAt()),
        Inspected.of(handle));
    assertEquals(new Inspected.Key("a8ca0d4a"), Inspected.of(KEY));
    refused(Code.MALFORMED, () -> Inspected.of("hello"));
  }

  /** What they are stands in the specification, and is tested in the core. */
  @Test
  void anAnswerIsThatOfARefusalOrOfTheServersOwnFailure() {
    for (Profile profile : Profile.values()) {
      Throwable expired = new RefusedException(Code.EXPIRED, "");
      assertEquals(Answer.of(profile), Answer.of(profile, expired));
      String failed = Answer.of(profile, new InternalErrorException("", null));
      assertFalse(Answer.of(profile).equals(failed));
      assertEquals(failed, Answer.of(profile, new ArithmeticException()));
    }
  }

  @Test
  void anOlderKeyWantsSealingAnew() {
    Key old = Key.generate();
    Key next = Key.generate();
    Codec rotating = TestEnvironment.build(Codec.builder("a").keys(KeyRing.of(old)));
    View before = rotating.view(Principal.subject("alice"));
    String token = before.session().seal(PAYLOAD);
    assertTrue(rotating.setKeys(KeyRing.of(next, old)));
    assertFalse(rotating.setKeys(KeyRing.parse(next.toText() + "," + old.toText())));
    Opened opened = rotating.view(Principal.subject("alice")).session().open(token);
    assertTrue(opened.needsReseal() && opened.needsRenewal());
    assertFalse(before.session().open(token).needsReseal());
  }

  @Test
  void whatIsClosedFails() {
    View view = codec.view(Principal.subject("bob"));
    Sealer session = view.session();
    String token = session.seal(PAYLOAD);
    view.close();
    view.close();
    assertThrows(IllegalStateException.class, () -> session.open(token));
    codec.view(Principal.subject("bob")).session().open(token);
    Codec closed = TestEnvironment.build(settings());
    View kept = closed.view(Principal.subject("bob"));
    closed.close();
    kept.session().open(token);
    assertThrows(IllegalStateException.class, () -> closed.view(Principal.subject("bob")));
  }
}
