package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Data-layer sessions, as a server uses them. */
class SessionsTest {
  private static final long NOW = 1_780_000_000;
  private static final long DAY = 86_400;

  private final Codec codec =
      TestEnvironment.build(Codec.builder("a").keys(KeyRing.of(Key.generate())));
  private final View alice = codec.view(Principal.subject("alice"));
  private final Sessions sessions = alice.sessions();

  private static void at(long seconds, Runnable body) {
    TestEnvironment.at(seconds * 1000, null, body);
  }

  private static void refused(Code code, Executable call) {
    assertEquals(code, assertThrows(RefusedException.class, call).code());
  }

  @Test
  void aSessionLivesOnThroughRenewals() {
    SessionMetadata[] sent = new SessionMetadata[2];
    at(NOW, () -> sent[0] = sessions.create(new byte[] {1}));
    assertEquals("2026-05-29T20:26:40Z", sent[0].expiresAt());
    at(
        NOW + DAY - 1,
        () -> {
          Session opened = sessions.open(sent[0].toMap());
          assertArrayEquals(new byte[] {1}, opened.payload());
          assertEquals(0, opened.generation());
          assertEquals(sent[0].sessionId(), opened.id());
          sent[1] = sessions.renew(opened, new byte[] {2});
          Session again = sessions.openJson(sent[1].toJson());
          assertEquals(opened.id(), again.id());
          assertArrayEquals(new byte[] {2}, again.payload());
          assertEquals(1, again.generation());
          assertEquals(Instant.ofEpochSecond(NOW), again.startedAt());
          assertNotEquals(opened, again);
        });
    at(NOW + DAY, () -> refused(Code.EXPIRED, () -> sessions.open(sent[0].toMap())));
  }

  @Test
  void aForkGoesItsOwnWay() {
    Session opened = sessions.open(sessions.create(new byte[] {1}).toMap());
    Session forked = sessions.open(sessions.fork(opened).toMap());
    assertArrayEquals(new byte[] {1}, forked.payload());
    assertNotEquals(opened.id(), forked.id());
  }

  @Test
  void limitsOfLife() {
    SessionMetadata[] endless = new SessionMetadata[1];
    at(
        NOW,
        () -> {
          Lifetime minute = Lifetime.of(Duration.ofSeconds(60));
          assertEquals(
              "2026-05-28T20:27:40Z", alice.sessions(minute).create(new byte[0]).expiresAt());
          endless[0] = alice.sessions(Lifetime.noExpiry()).create(new byte[0]);
        });
    assertEquals("2026-06-27T20:26:40Z", endless[0].expiresAt());
    at(
        NOW + 30 * DAY,
        () -> {
          refused(Code.EXPIRED, () -> sessions.open(endless[0].toMap()));
          refused(Code.EXPIRED, () -> sessions.verify(endless[0].sessionId()));
        });
  }

  @Test
  void aSessionIsOneWhole() {
    SessionMetadata mine = sessions.create(new byte[0]);
    SessionMetadata other = sessions.create(new byte[0]);
    refused(Code.MALFORMED, () -> sessions.open(Map.of("sessionId", mine.sessionId())));
    refused(Code.MALFORMED, () -> sessions.open(Map.of()));
    refused(Code.MALFORMED, () -> sessions.openJson("["));
    refused(
        Code.UNAUTHENTIC,
        () -> sessions.open(new SessionMetadata(mine.sessionId(), null, other.state()).toMap()));
    refused(
        Code.PRINCIPAL_MISMATCH,
        () -> codec.view(Principal.subject("mallory")).sessions().open(mine.toMap()));
    assertEquals(mine.sessionId(), sessions.verify(mine.sessionId()).text());
    refused(Code.TOO_LARGE, () -> sessions.create(new byte[4097]));
  }
}
