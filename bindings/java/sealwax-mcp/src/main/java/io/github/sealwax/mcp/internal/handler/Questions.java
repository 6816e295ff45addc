package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpServerTransport;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** What users are asked on a connection, while their calls wait. */
public final class Questions {
  private final GuardCore guard;
  private final McpServerTransport transport;

  /** By their ids, which no client can guess; the SDK's own are counted. */
  private final Map<Object, Asked> asked = new ConcurrentHashMap<>();

  private volatile @Nullable Object capabilities;

  private record Asked(Map<String, Object> caller, Sinks.One<JSONRPCResponse> answer) {}

  public Questions(GuardCore guard, McpServerTransport transport) {
    this.guard = guard;
    this.transport = transport;
  }

  /** Returns what the client said at {@code initialize} that it can do. */
  @Nullable Object capabilities() {
    return capabilities;
  }

  /** Keeps what a client says of itself. */
  void initializing(JSONRPCRequest request) {
    Map<String, Object> params = Json.members(request.params());
    capabilities = params == null ? null : params.get("capabilities");
  }

  /**
   * Asks the user of a call that waits, and gives the client's result; only this caller answers.
   */
  public Mono<Object> ask(Map<String, Object> params, Map<String, Object> caller) {
    return Mono.defer(
        () -> {
          String id = "sealwax:" + UUID.randomUUID();
          Sinks.One<JSONRPCResponse> answer = Sinks.one();
          asked.put(id, new Asked(caller, answer));
          return transport
              .sendMessage(new JSONRPCRequest("elicitation/create", id, params))
              .then(answer.asMono())
              .map(Questions::result)
              .doOnCancel(() -> cancel(id))
              .doFinally(signal -> asked.remove(id));
        });
  }

  /** Returns the result of a response, or throws its error. */
  static Object result(JSONRPCResponse response) {
    if (response.error() != null) {
      throw new McpError(response.error());
    }
    return response.result();
  }

  private void cancel(String id) {
    Map<String, Object> params = Map.of("requestId", id);
    transport
        .sendMessage(new JSONRPCNotification("notifications/cancelled", params))
        .onErrorComplete()
        .subscribe();
  }

  /** Returns whether a response is one to a question. */
  public boolean has(JSONRPCResponse response) {
    return response.id() != null && asked.containsKey(response.id());
  }

  /**
   * Takes the answer, if it is one. Another user may know the session over HTTP, and answers for
   * nobody else.
   */
  public boolean take(McpTransportContext context, JSONRPCResponse response) {
    Asked question = asked.get(response.id());
    Caller caller = new Caller(guard, context);
    caller.identify();
    return question != null
        && question.caller().equals(caller.known())
        && question.answer().tryEmitValue(response).isSuccess();
  }
}
