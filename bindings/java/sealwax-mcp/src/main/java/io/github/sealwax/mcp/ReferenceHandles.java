package io.github.sealwax.mcp;

import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.internal.Durations;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
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
  private static final long LARGEST = 0xffff_ffffL;

  private final Guard guard;
  private final Map<String, Object> settings;

  ReferenceHandles(Guard guard, Map<String, Object> settings) {
    this.guard = guard;
    this.settings = settings;
  }

  /**
   * Returns the same handles, which expire.
   *
   * @param age the time after which they do
   * @return the handles
   */
  public ReferenceHandles maxAge(Duration age) {
    long seconds = Durations.seconds("maxAge", age);
    return new ReferenceHandles(guard, SelfContainedHandles.with(settings, "maxAge", seconds));
  }

  /**
   * Makes a handle.
   *
   * @param context the tool's
   * @return the handle
   */
  public ReferenceHandle mint(McpTransportContext context) {
    return handle(run(context, "mint", Map.of()));
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
    return handle(run(context, "check", SelfContainedHandles.sent(handle)));
  }

  /**
   * Verifies a handle and ends it, which needs a ledger; delete its row yourself.
   *
   * @param context the tool's
   * @param handle what the client sent, of whatever type
   * @throws HandleRefused for any that is not valid
   */
  public void end(McpTransportContext context, @Nullable Object handle) {
    run(context, "end", SelfContainedHandles.sent(handle));
  }

  /**
   * Makes the short handle of a number of the user's, such as the key of a row among the user's
   * own: {@code basket_7_} and 8 characters, which a model copies with fewer errors. It is the same
   * each time, and has no end but that of its row.
   *
   * @param context the tool's
   * @param number from 0 to 4294967295
   * @return the text for the model
   * @throws InvalidArgumentException for another number
   * @throws HandleRefused as {@link #mint}, and for an anonymous caller, whose number is
   *     everybody's
   */
  public String mintShort(McpTransportContext context, long number) {
    if (number < 0 || number > LARGEST) {
      throw new InvalidArgumentException(
          "number: expected a whole number from 0 to " + LARGEST + ", found " + number);
    }
    return run(context, "mintShort", Map.of("number", number)).text("handle");
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
    Step done = run(context, "checkShort", SelfContainedHandles.sent(handle));
    return Long.parseLong(done.text("value"));
  }

  private Step run(McpTransportContext context, String op, Map<String, Object> more) {
    Map<String, Object> operation = SelfContainedHandles.with(settings, "op", op);
    operation.putAll(more);
    return Served.of(guard, context).handle(operation, null);
  }

  private static ReferenceHandle handle(Step done) {
    return new ReferenceHandle(done.text("handle"), done.text("id"), Guard.instant(done));
  }
}
