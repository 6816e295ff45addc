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
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The Java layer: types, absence, exceptions by code, and nothing secret printed. */
class ApiTest {
  private static final String KEY = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc";
  private static final String SECRET =
      "931f5a9ec624a5521cd7d6a4c3dcd1da52995672cc9339f61f826a60951fd8fc";
  private static final long NOW = 1_780_000_000;
  private static final byte[] PAYLOAD = "payload".getBytes(UTF_8);

  private final Codec codec = TestEnvironment.build(settings());
  private final View alice = codec.view(Principal.subject("alice"));

  private static CodecBuilder settings() {
    return Codec.builder("https://mcp.example.com").keys(KeyRing.parse(KEY));
  }

  private static void refused(Code code, Executable call) {
    assertEquals(code, assertThrows(SealwaxException.class, call).code());
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
    TestEnvironment.at(
        NOW * 1000,
        null,
        () -> {
          SessionMetadata sent = sessions.create(PAYLOAD);
          assertEquals("2026-05-28T20:27:40Z", sent.expiresAt());
          assertEquals(sent.sessionId(), sessions.verify(sent.sessionId()).text());
          Session opened = sessions.open(sent.toMap());
          assertArrayEquals(PAYLOAD, opened.payload());
          Session next = sessions.openJson(sessions.renew(opened, new byte[2]).toJson());
          assertEquals(sent.sessionId() + " 1", next.id() + " " + next.generation());
          assertEquals(Instant.ofEpochSecond(NOW), next.startedAt());
          assertFalse(opened.equals(next));
          Session forked = sessions.open(sessions.fork(opened).toMap());
          assertArrayEquals(PAYLOAD, forked.payload());
          assertFalse(forked.id().equals(opened.id()));
          SessionMetadata other = sessions.create(PAYLOAD);
          SessionMetadata mixed = new SessionMetadata(sent.sessionId(), null, other.state());
          refused(Code.UNAUTHENTIC, () -> sessions.open(mixed.toMap()));
          refused(Code.MALFORMED, () -> sessions.open(Map.of("sessionId", sent.sessionId())));
          refused(Code.MALFORMED, () -> sessions.openJson("["));
        });
  }

  @Test
  void withoutRandomnessNothingIsSealed() {
    TestEnvironment.current().denyRandom();
    try {
      refused(Code.ENTROPY_UNAVAILABLE, () -> alice.session().seal(PAYLOAD));
      refused(Code.ENTROPY_UNAVAILABLE, alice::mintSessionId);
      refused(Code.ENTROPY_UNAVAILABLE, () -> alice.mintHandle("basket"));
    } finally {
      TestEnvironment.current().reset();
    }
    alice.mintSessionId();
  }

  @Test
  void nobodyIsNoDefault() {
    refused(Code.INVALID_ARGUMENT, () -> codec.view(Principal.of(null, null, null)));
    refused(
        Code.INVALID_ARGUMENT,
        () -> codec.view(Principal.of("https://idp.example.com", null, null)));
    refused(Code.INVALID_ARGUMENT, () -> codec.view(Principal.of(null, "", "alice")));
    refused(Code.INVALID_ARGUMENT, () -> codec.view(Principal.subject("")));
    refused(Code.INVALID_ARGUMENT, () -> codec.view(Principal.subject("a".repeat(1025))));
    codec.view(Principal.anonymous()).mintSessionId();
    refused(Code.INVALID_ARGUMENT, () -> alice.custom("note", "", null).seal(PAYLOAD));
  }

  @Test
  void loneSurrogates() {
    // Of the caller they are a mistake; of a client, whose JSON can hold them, a refusal.
    refused(Code.INVALID_ARGUMENT, () -> Codec.builder("\ud800").keys(KeyRing.parse(KEY)).build());
    refused(Code.INVALID_ARGUMENT, () -> codec.view(Principal.subject("\ud800")));
    refused(Code.INVALID_ARGUMENT, () -> alice.cursor("\ud800"));
    refused(Code.MALFORMED, () -> alice.session().open("sw1.\ud800"));
    refused(Code.MALFORMED, () -> alice.verifySessionId("\ud800"));
    refused(Code.MALFORMED, () -> alice.verifyHandle("basket", "\ud800"));
    refused(Code.MALFORMED, () -> alice.sessions().verify("\ud800"));
    refused(
        Code.MALFORMED,
        () -> alice.sessions().openJson("{\"sessionId\":\"\ud800\",\"state\":\"x\"}"));
    refused(
        Code.MALFORMED, () -> alice.sessions().open(Map.of("sessionId", "\ud800", "state", "x")));
    alice.cursor("tools/list?").seal(PAYLOAD);
  }

  @Test
  void limits() {
    View large =
        TestEnvironment.build(settings().payloadLimit(1 << 20).skew(Duration.ofSeconds(300)))
            .view(Principal.anonymous());
    byte[] payload = new byte[1 << 20];
    payload[12_345] = 7;
    assertArrayEquals(payload, large.session().open(large.session().seal(payload)).payload());
    refused(Code.INVALID_ARGUMENT, () -> settings().payloadLimit((1 << 20) + 1).build());
    refused(Code.INVALID_ARGUMENT, () -> settings().payloadLimit(-1).build());
    refused(Code.INVALID_ARGUMENT, () -> settings().skew(Duration.ofSeconds(301)).build());
    refused(Code.INVALID_ARGUMENT, () -> settings().skew(Duration.ofSeconds(-1)).build());
    refused(Code.INVALID_ARGUMENT, () -> settings().keysInterval(Duration.ZERO).build());
    refused(Code.INVALID_ARGUMENT, () -> Codec.builder("").keys(KeyRing.parse(KEY)).build());
    refused(Code.INVALID_ARGUMENT, () -> Codec.builder("a").build());
  }

  @Test
  void keysAndRings() {
    Key old = Key.generate();
    Key key = Key.parse(KEY);
    KeyRing ring = KeyRing.of(key, old);
    assertEquals(List.of(key.id(), old.id()), ring.ids());
    assertEquals(ring.ids(), KeyRing.parse(KEY + " " + old.toText()).ids());
    assertEquals(KEY, Key.fromSecret(HexFormat.of().parseHex(SECRET)).toText());
    byte[] long33 = new byte[33];
    IntStream.range(0, 33).forEach(index -> long33[index] = (byte) index);
    Key imported = Key.fromSecret(long33);
    assertNull(imported.toText());
    KeyRing both = KeyRing.of(imported, old);
    assertEquals(List.of(key.id(), imported.id(), old.id()), KeyRing.of(key, both).ids());
    refused(Code.INVALID_KEY, () -> KeyRing.of(old, both));
    refused(Code.INVALID_KEY, () -> KeyRing.of());
    refused(Code.INVALID_KEY, () -> KeyRing.of(key, key));
    refused(Code.INVALID_KEY, () -> KeyRing.of(key, null));
    KeyRing none = null;
    refused(Code.INVALID_KEY, () -> Codec.of(none, "a"));
    refused(Code.INVALID_KEY, () -> Key.fromSecret(new byte[31]));
    refused(Code.INVALID_KEY, () -> Key.fromSecret(new byte[32]));
    refused(
        Code.INVALID_KEY,
        () -> Key.fromSecret("correct horse battery staple, correct horse".getBytes(UTF_8)));
    refused(Code.INVALID_KEY, () -> Key.parse(KEY.substring(1)));
    refused(Code.INVALID_KEY, () -> KeyRing.parse(""));
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
    refused(Code.MALFORMED, () -> Inspected.of("\ud800"));
    refused(Code.TOO_LARGE, () -> Inspected.of("a".repeat((2 << 20) + 1)));
    refused(Code.UNSUPPORTED, () -> Inspected.of("sw2." + "A".repeat(100)));
    refused(Code.INVALID_KEY, () -> Inspected.of("swk1_x"));
  }

  @ParameterizedTest
  @EnumSource(Profile.class)
  void everyRefusalOfAProfileHasOneAnswer(Profile profile) {
    String answer = Answer.of(profile);
    for (Code code : Code.values()) {
      if (code.status() >= Code.TOO_LARGE.status()) {
        assertEquals(answer, Answer.of(profile, new RefusedException(code, "")));
      }
    }
    assertFalse(answer.equals(Answer.of(profile, new InternalErrorException("", null))));
    assertEquals(
        Answer.of(profile, new InternalErrorException("", null)),
        Answer.of(profile, new ArithmeticException()));
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
    View after = rotating.view(Principal.subject("alice"));
    assertTrue(after.session().open(token).needsReseal());
    assertTrue(after.session().open(token).needsRenewal());
    assertFalse(before.session().open(token).needsReseal());
    String sealed = after.session().seal(PAYLOAD);
    refused(Code.UNKNOWN_KEY, () -> before.session().open(sealed));
    rotating.setKeys(KeyRing.of(next));
    refused(
        Code.UNKNOWN_KEY, () -> rotating.view(Principal.subject("alice")).session().open(token));
    before.session().open(token);
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
