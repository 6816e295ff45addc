package io.github.sealwax.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where SEP-1359 puts the session id of a message: beside its method, or in its result. */
final class Messages {
  private static final String MEMBER = "sessionId";

  private Messages() {}

  /** Removes and returns the session id of a message. */
  static @Nullable Object takeSession(Map<String, Object> message) {
    Object found = message.remove(MEMBER);
    if (found == null && message.get("result") instanceof Map<?, ?> result) {
      found = result.remove(MEMBER);
    }
    return Json.clientValue(found);
  }

  /** Puts the session id on a message. */
  static void putSession(Map<String, Object> message, String sessionId) {
    Map<String, Object> result = Json.members(message.get("result"));
    if (message.containsKey("method")) {
      message.put(MEMBER, sessionId);
    } else if (result != null) {
      result.put(MEMBER, sessionId);
    }
  }
}
