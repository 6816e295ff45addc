package io.github.sealwax.mcp;

import io.github.sealwax.TokenFields;
import io.modelcontextprotocol.common.McpTransportContext;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One message around HTTP, on its way to the SDK, and its answer. */
final class TransportExchange implements AutoCloseable {
  /** The key in the context of the transport under which this is. */
  static final String KEY = "io.github.sealwax.transport";

  private final Guard guard;
  private final Caller caller;
  private final Engine.Exchange exchange;
  private final Step first;
  private final @Nullable Object id;
  private @Nullable Long withinMs;
  private @Nullable Negotiated negotiated;

  /** Begins the exchange of a message; {@code facts} are what its carrier says of it. */
  TransportExchange(
      Guard guard,
      Engine engine,
      McpTransportContext context,
      @Nullable Map<String, Object> message,
      Map<String, Object> facts) {
    this.guard = guard;
    this.caller = new Caller(guard, context);
    Map<String, Object> all = new HashMap<>(facts);
    String initialize = null;
    Object method = message == null ? null : message.get("method");
    if (method != null) {
      Object named = Json.clientValue(method);
      all.put("method", named instanceof String ? named : "");
      all.put("notification", message.get("id") == null);
      TokenFields fields = named instanceof String known ? engine.tokenFields(known) : null;
      Map<String, Object> params =
          message.get("params") instanceof Map ? Json.members(message.get("params")) : null;
      if (fields != null && fields.target() != null && params != null) {
        Object target = Json.clientValue(params.get(fields.target()));
        all.put("target", target instanceof String ? target : null);
      }
      if ("initialize".equals(named)) {
        initialize = Json.writeClients(message.get("params"));
      }
    }
    id = method == null ? null : message.get("id");
    Engine.Begun begun = engine.transport(all, initialize);
    exchange = begun.exchange();
    first = begun.step();
  }

  /** Returns the wrapper that a message came through, if that is of the same guard. */
  static @Nullable TransportExchange of(Guard guard, McpTransportContext context) {
    return context.get(KEY) instanceof TransportExchange found && found.guard == guard
        ? found
        : null;
  }

  /** Returns the engine's decision on the message. */
  Step entered() {
    Step step = caller.drive(exchange, first);
    if (step.is("deliver")) {
      withinMs = step.number("withinMs");
      negotiated = Negotiated.of(step);
    }
    return step;
  }

  /** Returns the engine's decision on the result of an {@code initialize}. */
  Step initialized(Object result) {
    return caller.drive(
        exchange, exchange.on(Map.of("result", Map.of()), Json.writeClients(result)));
  }

  /** Returns the message of a reply; null if it has none. */
  @Nullable Map<String, Object> replied(Step step) {
    Map<String, Object> answer = new HashMap<>();
    answer.put("jsonrpc", "2.0");
    answer.put("id", id);
    if (step.has("error")) {
      answer.put("error", step.object("error"));
    } else if (step.has("done")) {
      answer.put("result", Map.of());
    } else {
      return null;
    }
    return answer;
  }

  Caller caller() {
    return caller;
  }

  @Nullable Object id() {
    return id;
  }

  @Nullable Long withinMs() {
    return withinMs;
  }

  @Nullable Negotiated negotiated() {
    return negotiated;
  }

  @Override
  public void close() {
    exchange.close();
    caller.close();
  }
}
