package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
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
  private final Operations operations;

  ReferenceHandles(Operations operations) {
    this.operations = operations;
  }

  /**
   * Returns the same handles, which expire.
   *
   * @param age the time after which they do
   * @return the handles
   */
  public ReferenceHandles maxAge(Duration age) {
    return new ReferenceHandles(operations.with("maxAge", Durations.seconds("maxAge", age)));
  }

  /**
   * Makes a handle.
   *
   * @param context the tool's
   * @return the handle
   */
  public ReferenceHandle mint(McpTransportContext context) {
    return handle(operations.run(context, "mint"));
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
    return handle(operations.of(handle).run(context, "check"));
  }

  /**
   * Verifies a handle and ends it, which needs a ledger; delete its row yourself.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @throws HandleRefused for any that is not valid
   */
  public void end(McpTransportContext context, @Nullable Object handle) {
    operations.of(handle).run(context, "end");
  }

  /**
   * Makes the short handle of a number of the user's, such as the key of a row among the user's
   * own: {@code basket_7_} and 8 characters, which a model copies with fewer errors. It is the same
   * each time, and has no end but that of its row.
   *
   * @param context the tool's
   * @param number from 0 to 4294967295
   * @return the text for the model
   * @throws io.github.sealwax.InvalidArgumentException for another number
   * @throws HandleRefused as {@link #mint}, and for an anonymous caller, whose number is
   *     everybody's
   */
  public String mintShort(McpTransportContext context, long number) {
    return operations.with("number", number).run(context, "mintShort").text("handle");
  }

  /**
   * Verifies a short handle that came back: look for the row among the user's own.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @return its number
   * @throws HandleRefused for any that is not valid
   */
  public long checkShort(McpTransportContext context, @Nullable Object handle) {
    Step done = operations.of(handle).run(context, "checkShort");
    return Long.parseLong(done.text("value"));
  }

  private static ReferenceHandle handle(Step done) {
    return new ReferenceHandle(done.text("handle"), done.text("id"), done.expiresAt());
  }
}
