package io.github.sealwax.mcp.internal.transport;

import io.github.sealwax.mcp.Negotiated;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.Engine;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.HttpHeaders;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Instant;
import java.util.Collections;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One HTTP request on its way to the SDK, and its answer. */
public final class TransportExchange implements AutoCloseable {
  /** The key in the context of the transport under which this is. */
  public static final String KEY = "io.github.sealwax.transport";

  /** The key there under which the header {@code Mcp-Session-Id} is. */
  public static final String HEADER = "io.github.sealwax.header";

  private final GuardCore guard;
  private final Caller caller;
  private final Engine.Exchange exchange;
  private final Step first;
  private @Nullable Long withinMs;
  private @Nullable Negotiated negotiated;

  public TransportExchange(
      GuardCore guard, Engine engine, McpTransportContext context, HttpServletRequest request) {
    this.guard = guard;
    this.caller = new Caller(guard, context);
    Engine.Begun begun =
        engine.http(
            request.getMethod(),
            Collections.list(request.getHeaders(HttpHeaders.PROTOCOL_VERSION)),
            Collections.list(request.getHeaders(HttpHeaders.MCP_SESSION_ID)),
            Collections.list(request.getHeaders("Content-Encoding")));
    exchange = begun.exchange();
    first = begun.step();
  }

  /** Returns the wrapper that a message came through, if that is of the same guard. */
  public static @Nullable TransportExchange of(GuardCore guard, McpTransportContext context) {
    return context.get(KEY) instanceof TransportExchange found && found.guard == guard
        ? found
        : null;
  }

  /** Returns the engine's decision on the request; it delivers with the bytes that it read. */
  public Step entered(HttpServletRequest request, int maxBodySize) throws IOException {
    Step step = caller.drive(exchange, first);
    byte[] body = null;
    if (step.asksBody()) {
      // Of its own type: on stdio the verifier has none to see that it is a stream.
      var stream = request.getInputStream();
      body = stream.readNBytes(maxBodySize);
      boolean fits = body.length < maxBodySize || stream.read() < 0;
      step = caller.drive(exchange, exchange.body(fits ? body : null));
    }
    if (!step.is("deliver")) {
      return step;
    }
    withinMs = step.number("withinMs");
    negotiated = negotiated(step);
    return step.bytes() == null ? new Step(step.members(), body) : step;
  }

  /** Returns what the engine makes of the answer; null if that is sent as it is. */
  public @Nullable Step left(HeldResponse held) {
    boolean changes =
        exchange.answer(
            held.getStatus(), held.getContentType(), held.getHeader(HttpHeaders.MCP_SESSION_ID));
    return changes ? caller.drive(exchange, exchange.answered(held.body())) : null;
  }

  public Caller caller() {
    return caller;
  }

  public @Nullable Long withinMs() {
    return withinMs;
  }

  public @Nullable Negotiated negotiated() {
    return negotiated;
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

  @Override
  public void close() {
    exchange.close();
    caller.close();
  }
}
