package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.Json;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Cursors in the results of tools, each bound to its user, the tool and the other arguments of the
 * call.
 *
 * <p>With a ledger {@link #position} may wait for it, no longer than the guard's time limit.
 *
 * @param <T> the type of a position
 */
public final class Pages<T> {
  private final Operations operations;
  private final TypeRef<T> type;

  Pages(Operations operations, TypeRef<T> type) {
    this.operations = operations;
    this.type = type;
  }

  /**
   * Returns the same pages, whose cursor is in another argument than {@code cursor}.
   *
   * @param name the argument
   * @return the pages
   */
  public Pages<T> argument(String name) {
    return with("type", name);
  }

  /**
   * Returns the same pages, of one list: a cursor of another list is refused.
   *
   * @param list what the list is made of, such as its version
   * @return the pages
   */
  public Pages<T> list(String list) {
    return with("list", list);
  }

  /**
   * Returns the same pages, whose cursors have another lifetime than 24 hours.
   *
   * @param ttl at least a second
   * @return the pages
   */
  public Pages<T> ttl(Duration ttl) {
    return with("ttl", Durations.seconds("ttl", ttl));
  }

  private Pages<T> with(String name, Object value) {
    return new Pages<>(operations.with(name, value), type);
  }

  /**
   * Makes a cursor for the result of a tool. The next call has it in the argument {@code cursor},
   * and {@link #position} opens it there, for the same user, tool and other arguments.
   *
   * @param context the tool's
   * @param position where the next page begins, as JSON can hold it
   * @return the text
   * @throws HandleRefused for arguments that nothing can be bound to, and a position that is too
   *     large
   */
  public String cursor(McpTransportContext context, T position) {
    return operations.run(context, "cursor", Json.write(position)).text("handle");
  }

  /**
   * Returns the position of the cursor that a call brought. What no guard could have made is the
   * first page: models fill in every argument that they know of.
   *
   * @param context the tool's
   * @return the position; null for the first page
   * @throws HandleRefused for a cursor that was altered, has expired, or is of another user, tool,
   *     call or list
   */
  public @Nullable T position(McpTransportContext context) {
    String value = operations.run(context, "position").text("value");
    return value == null ? null : Json.value(value, type);
  }
}
