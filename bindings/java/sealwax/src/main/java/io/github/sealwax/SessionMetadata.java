package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The value of {@code _meta["io.modelcontextprotocol/session"]}.
 *
 * @param sessionId the session's id
 * @param expiresAt the session's end unless it is renewed, in RFC 3339: a hint for the host
 * @param state the sealed state
 */
public record SessionMetadata(
    String sessionId, @Nullable String expiresAt, @Nullable String state) {
  static SessionMetadata read(byte[] json) {
    Map<String, Object> members = Documents.read(json);
    return new SessionMetadata(
        (String) members.get("sessionId"),
        (String) members.get("expiresAt"),
        (String) members.get("state"));
  }

  /** Returns it as an SDK takes metadata. */
  public Map<String, Object> toMap() {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("sessionId", sessionId);
    if (expiresAt != null) {
      members.put("expiresAt", expiresAt);
    }
    if (state != null) {
      members.put("state", state);
    }
    return members;
  }

  /** Returns it as JSON. */
  public String toJson() {
    return new String(Documents.write("metadata", toMap()), StandardCharsets.UTF_8);
  }

  /** Returns the end alone: who has the id and the state may go on with the session. */
  @Override
  public String toString() {
    return "SessionMetadata[expiresAt=" + expiresAt + "]";
  }
}
