package io.github.sealwax.mcp;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the engine says to do next; docs/engine.md describes the members, and the bytes. */
@SuppressWarnings("ArrayRecordComponent") // It is read once, and compared with nothing.
record Step(Map<String, Object> members, byte @Nullable [] bytes) {
  Step(Map<String, Object> members) {
    this(members, null);
  }

  static Step read(String document) {
    return new Step(Json.object(document));
  }

  /** Returns it with more bytes, before its own. */
  Step after(byte[] before) {
    byte[] all = Arrays.copyOf(before, before.length + bytes.length);
    System.arraycopy(bytes, 0, all, before.length, bytes.length);
    return new Step(members, all);
  }

  boolean is(String name) {
    return name.equals(members.get("step"));
  }

  /** Returns whether it asks the user, or the server, for whom no thread waits. */
  boolean asksOthers() {
    return "elicit".equals(members.get("name")) || "list_tools".equals(members.get("name"));
  }

  /** Returns whether it asks for the body of an HTTP request. */
  boolean asksBody() {
    return "body".equals(members.get("name"));
  }

  boolean has(String name) {
    return members.get(name) != null;
  }

  @Nullable String text(String name) {
    return (String) members.get(name);
  }

  @Nullable Long number(String name) {
    return members.get(name) instanceof Number number ? number.longValue() : null;
  }

  @SuppressWarnings("unchecked")
  Map<String, Object> object(String name) {
    Object found = members.get(name);
    return found == null ? Map.of() : (Map<String, Object>) found;
  }

  @SuppressWarnings("unchecked")
  List<Map<String, Object>> objects(String name) {
    Object found = members.get(name);
    return found == null ? List.of() : (List<Map<String, Object>>) found;
  }

  List<?> list(String name) {
    Object found = members.get(name);
    return found == null ? List.of() : (List<?>) found;
  }

  @SuppressWarnings("unchecked")
  List<String> texts(String name) {
    Object found = members.get(name);
    return found == null ? List.of() : (List<String>) found;
  }
}
