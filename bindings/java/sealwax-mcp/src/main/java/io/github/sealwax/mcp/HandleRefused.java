package io.github.sealwax.mcp;

import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.util.List;
import java.util.Map;

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

  private final transient Map<String, Object> toolResult;

  HandleRefused(Step reply) {
    super(errorOf(reply.object("error")));
    code = codeOf(reply);
    toolResult = reply.object("tool");
  }

  /**
   * Returns why it was refused.
   *
   * @return the stable code, such as {@code expired}
   */
  public String code() {
    return code;
  }

  Map<String, Object> toolResult() {
    return toolResult;
  }

  /** Returns why something was refused, as the log has it. */
  static String codeOf(Step reply) {
    List<Map<String, Object>> refused = reply.objects("refused");
    return refused.isEmpty() ? "malformed" : (String) refused.get(refused.size() - 1).get("code");
  }

  static JSONRPCError errorOf(Map<String, Object> error) {
    Number code = (Number) error.get("code");
    return new JSONRPCError(code.intValue(), (String) error.get("message"), error.get("data"));
  }
}
