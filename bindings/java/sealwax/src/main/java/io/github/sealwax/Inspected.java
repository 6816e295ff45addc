package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import java.time.Instant;
import java.util.Map;

/** What a text says of itself. None of it is verified. */
public sealed interface Inspected {
  /**
   * A sealed token.
   *
   * @param kind its kind, such as {@code request-state}
   * @param keyId the id of the key that sealed it
   * @param tokenId its id, as {@link Opened#tokenId}
   */
  record Token(String kind, String keyId, String tokenId) implements Inspected {}

  /**
   * A session id.
   *
   * @param keyId the id of the key that made it
   * @param createdAt when it was made
   */
  record SessionId(String keyId, Instant createdAt) implements Inspected {}

  /**
   * A handle.
   *
   * @param type its type
   * @param createdAt when it was made
   */
  record Handle(String type, Instant createdAt) implements Inspected {}

  /**
   * A key text with a correct checksum: a secret.
   *
   * @param keyId its id
   */
  record Key(String keyId) implements Inspected {}

  /**
   * Returns what a text is.
   *
   * @throws SealwaxException {@code too_large} over 2 MiB, and {@code malformed}, {@code
   *     unsupported} or {@code invalid_key} if it is none of these
   */
  static Inspected of(String text) {
    Map<String, Object> found = Documents.report(text);
    return switch ((String) found.get("what")) {
      case "token" ->
          new Token(
              (String) found.get("kind"),
              (String) found.get("key_id"),
              (String) found.get("token_id"));
      case "session-id" -> new SessionId((String) found.get("key_id"), createdAt(found));
      case "handle" -> new Handle((String) found.get("handle_type"), createdAt(found));
      default -> new Key((String) found.get("key_id"));
    };
  }

  private static Instant createdAt(Map<String, Object> found) {
    return Times.ofMilliseconds(((Number) found.get("created_at_ms")).longValue());
  }
}
