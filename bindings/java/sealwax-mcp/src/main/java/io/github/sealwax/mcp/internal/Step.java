package io.github.sealwax.mcp.internal;

import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the engine says to do next; docs/engine.md describes the members, and the bytes. */
@SuppressWarnings("ArrayRecordComponent") // It is read once, and compared with nothing.
public record Step(Map<String, Object> members, byte @Nullable [] bytes) {
  public Step(Map<String, Object> members) {
    this(members, null);
  }

  public static Step read(String document) {
    return new Step(Json.object(document));
  }

  /** Returns it with more bytes, before its own. */
  Step after(byte[] before) {
    byte[] all = Arrays.copyOf(before, before.length + bytes.length);
    System.arraycopy(bytes, 0, all, before.length, bytes.length);
    return new Step(members, all);
  }

  public boolean is(String name) {
    return name.equals(members.get("step"));
  }

  /** Returns whether it asks the user, or the server, for whom no thread waits. */
  public boolean asksOthers() {
    return "elicit".equals(members.get("name")) || "list_tools".equals(members.get("name"));
  }

  /** Returns whether it asks for the body of an HTTP request. */
  public boolean asksBody() {
    return "body".equals(members.get("name"));
  }

  public boolean has(String name) {
    return members.get(name) != null;
  }

  public @Nullable String text(String name) {
    return (String) members.get(name);
  }

  public @Nullable Long number(String name) {
    return members.get(name) instanceof Number number ? number.longValue() : null;
  }

  public Map<String, Object> object(String name) {
    return found(name, Map.of());
  }

  public <T> List<T> list(String name) {
    return found(name, List.of());
  }

  @SuppressWarnings("unchecked")
  private <T> T found(String name, T absent) {
    Object found = members.get(name);
    return found == null ? absent : (T) found;
  }

  /** Returns the end of what was made or opened; null for never. */
  public @Nullable Instant expiresAt() {
    return has("expiresAt") ? Instant.parse(text("expiresAt")) : null;
  }

  /** Returns the error for the client. */
  public JSONRPCError error() {
    Map<String, Object> error = object("error");
    Number code = (Number) error.get("code");
    return new JSONRPCError(code.intValue(), (String) error.get("message"), error.get("data"));
  }

  /** Returns why something was refused, as the log has it. */
  public String code() {
    List<Map<String, Object>> refused = list("refused");
    return refused.isEmpty() ? "malformed" : (String) refused.get(refused.size() - 1).get("code");
  }
}
