package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Handles of one type that hold their state, bound to the user, for use in tools; the server keeps
 * nothing.
 *
 * <p>A handle's state never changes: {@link #renew} makes the next handle. The older one keeps its
 * state until it expires; with {@link #singleUse} it is refused once it was renewed. With a ledger
 * these methods may wait for it, no longer than the guard's time limit.
 *
 * @param <T> the type of the state
 */
public final class SelfContainedHandles<T> {
  private final Guard guard;
  private final TypeRef<T> state;
  private final Map<String, Object> settings;

  SelfContainedHandles(Guard guard, TypeRef<T> state, Map<String, Object> settings) {
    this.guard = guard;
    this.state = state;
    this.settings = settings;
  }

  /**
   * Returns the same handles, of another lifetime than 24 hours.
   *
   * @param ttl at least a second
   * @return the handles
   */
  public SelfContainedHandles<T> ttl(Duration ttl) {
    return with("ttl", Durations.seconds("ttl", ttl));
  }

  /**
   * Returns the same handles, which end a time after the first of their chain, however often they
   * were renewed.
   *
   * @param age that time
   * @return the handles
   */
  public SelfContainedHandles<T> maxAge(Duration age) {
    return with("maxAge", Durations.seconds("maxAge", age));
  }

  /**
   * Returns the same handles, of which a renewal ends the one before; opening it does not.
   *
   * @return the handles
   * @throws IllegalStateException for a guard without a ledger
   */
  public SelfContainedHandles<T> singleUse() {
    if (!guard.hasLedger()) {
      throw new IllegalStateException("singleUse: expected a guard with a ledger");
    }
    return with("once", true);
  }

  private SelfContainedHandles<T> with(String name, Object value) {
    return new SelfContainedHandles<>(guard, state, with(settings, name, value));
  }

  /** Returns settings with one more, or another. */
  static Map<String, Object> with(Map<String, Object> settings, String name, Object value) {
    Map<String, Object> changed = new HashMap<>(settings);
    changed.put(name, value);
    return changed;
  }

  /**
   * Makes a handle that holds a value.
   *
   * @param context the tool's
   * @param value what JSON can hold
   * @return the handle
   */
  public SelfContainedHandle seal(McpTransportContext context, T value) {
    return handle(run(context, "seal", Map.of(), Json.write(value)));
  }

  /**
   * Makes the next handle of a chain, which keeps its start and counts its generation.
   *
   * @param context the tool's
   * @param before the handle that it replaces
   * @param value what JSON can hold
   * @return the handle
   * @throws HandleRefused with {@link #singleUse}, for a second renewal of the same handle
   */
  public SelfContainedHandle renew(McpTransportContext context, OpenedHandle<T> before, T value) {
    Map<String, Object> predecessor = Map.of("predecessor", before.predecessor());
    return handle(run(context, "seal", predecessor, Json.write(value)));
  }

  /**
   * Opens a handle that came back.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @return what it holds
   * @throws HandleRefused for any that is not valid
   */
  public OpenedHandle<T> open(McpTransportContext context, @Nullable Object handle) {
    Step done = run(context, "open", sent(handle), null);
    T value = Json.value(done.text("value"), state);
    return new OpenedHandle<>(value, Guard.instant(done), done.object("predecessor"));
  }

  /**
   * Opens a handle and ends it, which needs a ledger.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @throws HandleRefused for any that is not valid
   */
  public void end(McpTransportContext context, @Nullable Object handle) {
    run(context, "end", sent(handle), null);
  }

  /** Returns the member for a client's handle. */
  static Map<String, Object> sent(@Nullable Object handle) {
    Map<String, Object> sent = new HashMap<>();
    sent.put("handle", Json.clientValue(handle));
    return sent;
  }

  private Step run(
      McpTransportContext context, String op, Map<String, Object> more, @Nullable String value) {
    Map<String, Object> operation = with(settings, "op", op);
    operation.put("selfContained", true);
    operation.putAll(more);
    return Served.of(guard, context).handle(operation, value);
  }

  private static SelfContainedHandle handle(Step done) {
    return new SelfContainedHandle(done.text("handle"), Guard.instant(done));
  }
}
