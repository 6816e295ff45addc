package io.github.sealwax.mcp;

import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.handler.SessionCore;
import io.modelcontextprotocol.json.TypeRef;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The data-layer session of the request that is being served.
 *
 * <p>Without a ledger, the last of two concurrent writes wins, and both have the same generation.
 * With a ledger only one of two concurrent requests can {@link #write}; the other's result is
 * discarded.
 *
 * @param <T> the type of its value
 */
public final class Session<T> {
  private final SessionCore core;
  private final TypeRef<T> type;

  Session(SessionCore core, TypeRef<T> type) {
    this.core = core;
    this.type = type;
  }

  /**
   * Returns the session id. Log the {@link #ulid} instead: with the id, its user can delete the
   * session.
   *
   * @return the id
   */
  public String id() {
    return core.id;
  }

  /**
   * Returns the session's ulid, stable for its lifetime: for logs, and as a key in a store.
   *
   * @return 32 hex digits
   */
  public String ulid() {
    return core.ulid;
  }

  /**
   * Returns the number of writes before this request; 0 if the server holds the value.
   *
   * @return the generation
   */
  public long generation() {
    return core.generation;
  }

  /**
   * Returns the value, as it was written last.
   *
   * @return the value; null if the server holds it
   */
  public @Nullable T value() {
    String value = core.value();
    return value == null ? null : Json.value(value, type);
  }

  /**
   * Sends a new value with the response, unless that is a JSON-RPC error.
   *
   * @param value what JSON can hold
   */
  public void write(T value) {
    core.write(Json.write(value));
  }

  /**
   * Returns the metadata of a new session that begins with this one's value, to return to the
   * client in a result.
   *
   * @return sessionId, state and expiresAt
   */
  public Map<String, Object> fork() {
    return core.fork();
  }
}
