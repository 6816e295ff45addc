package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Handles of one type, bound to the user, for use in tools; the server keeps their state in its own
 * store.
 *
 * <p>A handle that is altered, expired, ended or another user's is refused, with a tool result that
 * tells the model to make a new one. All agents of a user can use the user's handles. With a ledger
 * these methods may wait for it, no longer than the guard's time limit.
 */
public final class ReferenceHandles {
  private final Guard guard;
  private final String type;
  private final @Nullable Duration maxAge;

  ReferenceHandles(Guard guard, String type, @Nullable Duration maxAge) {
    this.guard = guard;
    this.type = type;
    this.maxAge = maxAge;
  }

  /**
   * Returns the same handles, which expire.
   *
   * @param age the time after which they do
   * @return the handles
   */
  public ReferenceHandles maxAge(Duration age) {
    return new ReferenceHandles(guard, type, age);
  }

  /**
   * Makes a handle.
   *
   * @param context the tool's
   * @return the handle
   */
  public ReferenceHandle mint(McpTransportContext context) {
    return handle(run(context, "mint", null));
  }

  /**
   * Verifies a handle that came back.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @return the handle
   * @throws HandleRefused for any that is not valid
   */
  public ReferenceHandle check(McpTransportContext context, @Nullable Object handle) {
    return handle(run(context, "check", handle));
  }

  /**
   * Verifies a handle and ends it, which needs a ledger; delete its row yourself.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @throws HandleRefused for any that is not valid
   */
  public void end(McpTransportContext context, @Nullable Object handle) {
    run(context, "end", handle);
  }

  private Step run(McpTransportContext context, String op, @Nullable Object handle) {
    Map<String, Object> operation = new HashMap<>();
    operation.put("op", op);
    operation.put("type", type);
    operation.put("handle", Json.clientValue(handle));
    operation.put("maxAge", maxAge == null ? null : Durations.seconds("maxAge", maxAge));
    return Served.of(guard, context).handle(operation, null);
  }

  private static ReferenceHandle handle(Step done) {
    return new ReferenceHandle(done.text("handle"), done.text("id"), Guard.instant(done));
  }
}
