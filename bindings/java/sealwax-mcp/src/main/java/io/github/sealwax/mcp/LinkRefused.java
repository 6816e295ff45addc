package io.github.sealwax.mcp;

import io.github.sealwax.Answer;
import io.github.sealwax.Code;
import io.github.sealwax.Profile;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import java.util.Map;

/**
 * A link was refused, or the server failed. The message is for the browser: {@code Not found} or
 * {@code Internal server error}. The {@link #code} is for the log, never for the browser.
 */
public final class LinkRefused extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What the browser gets. */
  private final int status;

  /** Why it was refused. */
  private final String code;

  LinkRefused(Step reply) {
    this(reply.has("status") ? reply.number("status").intValue() : 500, reply.code());
  }

  private LinkRefused(int status, String code) {
    super(status < 500 ? "Not found" : "Internal server error");
    this.status = status;
    this.code = code;
  }

  /** Refuses a link that holds a value of another type than was asked for. */
  static LinkRefused ofValue() {
    Map<String, Object> answer = Json.object(Answer.of(Profile.MCP_SESSION_ID));
    int status = ((Number) answer.get("httpStatus")).intValue();
    return new LinkRefused(status, Code.MALFORMED.toString());
  }

  /**
   * Returns the status for the browser.
   *
   * @return 404, or 500 if the fault is the server's
   */
  public int status() {
    return status;
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
