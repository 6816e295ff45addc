package io.github.sealwax.mcp;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A result on its way out, which an update of its session may make anew. */
final class Leaving {
  private final Map<String, Object> first;
  private final Step delivered;
  private final @Nullable SessionCore session;
  private Map<String, Object> result;

  Leaving(Map<String, Object> result, Step delivered, @Nullable SessionCore session) {
    this.first = result;
    this.result = result;
    this.delivered = delivered;
    this.session = session;
  }

  Map<String, Object> result() {
    return result;
  }

  /** Applies the session's functions to the value of another request. */
  @SuppressWarnings("unchecked")
  Caller.Outcome again(String newer) {
    Caller.Outcome outcome = session.again(newer);
    Object[] made = session.made();
    if (outcome.value() == null || made == null) {
      return outcome;
    }
    Map<String, Object> before = Json.members(made[0]);
    result = (Map<String, Object>) Json.merged(Json.members(made[1]), added(before, first));
    Map<String, Object> members = new LinkedHashMap<>();
    for (String name : delivered.texts("members")) {
      members.put(name, Json.clientValue(result.get(name)));
    }
    Map<String, Object> facts = Map.of("members", members);
    return new Caller.Outcome(Map.of("updated", Map.of("result", facts)), outcome.value());
  }

  /** Returns what the SDK added to a result that was made, and what it left out, as a patch. */
  @SuppressWarnings("unchecked")
  private static Map<String, Object> added(Map<String, Object> made, Map<String, Object> found) {
    Map<String, Object> patch = new LinkedHashMap<>();
    made.keySet().stream()
        .filter(name -> !found.containsKey(name))
        .forEach(name -> patch.put(name, null));
    found.forEach(
        (name, value) -> {
          if (!made.containsKey(name)) {
            patch.put(name, value);
          } else if (value instanceof Map && made.get(name) instanceof Map) {
            patch.put(
                name, added((Map<String, Object>) made.get(name), (Map<String, Object>) value));
          }
        });
    return patch;
  }
}
