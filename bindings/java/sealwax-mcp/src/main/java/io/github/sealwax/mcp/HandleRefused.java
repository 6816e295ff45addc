package io.github.sealwax.mcp;

import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;

/**
 * A handle or a cursor was refused. Uncaught, it makes the fixed answer the tool's result; outside
 * of a tool it becomes a protocol error with the same text.
 *
 * <p>A tool may catch it, for example to make a new handle. The {@link #code} is for the log, never
 * for the client.
 */
public final class HandleRefused extends McpError {
  private static final long serialVersionUID = 1L;

  /** Why it was refused. */
  private final String code;

  HandleRefused(JSONRPCError error, String code) {
    super(error);
    this.code = code;
  }

  /**
   * Returns why it was refused.
   *
   * @return the stable code, such as {@code expired}
   */
  public String code() {
    return code;
  }
}
