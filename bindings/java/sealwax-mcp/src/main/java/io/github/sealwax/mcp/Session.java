package io.github.sealwax.mcp;

import io.modelcontextprotocol.json.TypeRef;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The data-layer session of the request that is being served.
 *
 * <p>Without a ledger, the last of two concurrent writes wins, and both have the same generation.
 * With a ledger only one of two concurrent requests can {@link #write}; the other's result is
 * discarded. Concurrent calls of {@link #update} all take effect.
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
    return value == null ? null : read(value);
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
   * Replaces the value by what a function makes of it.
   *
   * <p>With a ledger no concurrent write is lost: if another request wrote meanwhile, the function
   * is called again with the newer value when the result leaves, at most 32 times. It should have
   * no side effects. What it returned before may be wrong then, so make the tool's result with
   * {@link #result}.
   *
   * @param function makes the next value of the present one
   * @return the new value
   */
  public T update(UnaryOperator<T> function) {
    return read(core.update(value -> Json.write(function.apply(read(value)))));
  }

  /**
   * Makes the handler's result of the value, and again of the value that is written at last.
   *
   * @param make makes a result of a value; like the functions of {@link #update} it should have no
   *     side effects
   * @param <R> a result of the SDK, such as {@code CallToolResult}
   * @return what the handler returns
   */
  @SuppressWarnings("unchecked")
  public <R> R result(Function<? super T, ? extends R> make) {
    return (R) core.result(value -> make.apply(read(value)));
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

  private T read(String value) {
    return Json.value(value, type);
  }
}
