package io.github.sealwax.mcp.internal.transport;

import io.github.sealwax.mcp.Negotiated;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a filter knows of a request that it passed on, for the guard at the handlers. A server on
 * stdio has no class of a servlet: none stands here.
 */
public record Passed(
    GuardCore guard, Caller caller, @Nullable Long withinMs, @Nullable Negotiated negotiated) {
  /** The key in the context of the transport under which this is. */
  public static final String KEY = "io.github.sealwax.transport";

  /** The key there under which the header {@code Mcp-Session-Id} is. */
  public static final String HEADER = "io.github.sealwax.header";

  /** Returns what a context has of a filter of the same guard. */
  public static @Nullable Passed of(GuardCore guard, McpTransportContext context) {
    return context.get(KEY) instanceof Passed found && found.guard == guard ? found : null;
  }

  static Passed of(GuardCore guard, Caller caller, Step deliver) {
    return new Passed(guard, caller, deliver.number("withinMs"), negotiated(deliver));
  }

  @SuppressWarnings("unchecked")
  private static @Nullable Negotiated negotiated(Step deliver) {
    String text = deliver.text("negotiated");
    String id = deliver.text("id");
    if (text == null || id == null) {
      return null;
    }
    Map<String, Object> settled = Json.object(text);
    Long end = deliver.number("expiresAt");
    return new Negotiated(
        (String) settled.get("protocolVersion"),
        (Map<String, Object>) settled.getOrDefault("clientCapabilities", Map.of()),
        (Map<String, Object>) settled.getOrDefault("clientInfo", Map.of()),
        (Map<String, Object>) settled.getOrDefault("serverCapabilities", Map.of()),
        id,
        end == null ? null : Instant.ofEpochSecond(end));
  }
}
