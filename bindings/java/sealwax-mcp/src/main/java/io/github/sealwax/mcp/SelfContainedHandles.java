package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import java.time.Duration;
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
  private final Operations operations;
  private final TypeRef<T> state;

  SelfContainedHandles(Operations operations, TypeRef<T> state) {
    this.operations = operations;
    this.state = state;
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
    if (!operations.guard().hasLedger()) {
      throw new IllegalStateException("singleUse: expected a guard with a ledger");
    }
    return with("once", true);
  }

  private SelfContainedHandles<T> with(String name, Object value) {
    return new SelfContainedHandles<>(operations.with(name, value), state);
  }

  /**
   * Makes a handle that holds a value.
   *
   * @param context the tool's
   * @param value what JSON can hold
   * @return the handle
   */
  public SelfContainedHandle seal(McpTransportContext context, T value) {
    return handle(operations.run(context, "seal", Json.write(value)));
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
    Operations next = operations.with("predecessor", before.predecessor());
    return handle(next.run(context, "seal", Json.write(value)));
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
    Step done = operations.of(handle).run(context, "open");
    T value = Json.value(done.text("value"), state);
    return new OpenedHandle<>(value, done.expiresAt(), done.object("predecessor"));
  }

  /**
   * Opens a handle and ends it, which needs a ledger.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @throws HandleRefused for any that is not valid
   */
  public void end(McpTransportContext context, @Nullable Object handle) {
    operations.of(handle).run(context, "end");
  }

  private static SelfContainedHandle handle(Step done) {
    return new SelfContainedHandle(done.text("handle"), done.expiresAt());
  }
}
