package io.github.sealwax.mcp;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * A handler of any method of any revision that answers with its errors, as the SDK's server does.
 */
record Answering(Handling handling) implements McpStatelessServerHandler {
  /** Handles a request or a notification. */
  interface Handling {
    Mono<Map<String, Object>> of(McpTransportContext context, String method, Object params);
  }

  @Override
  public Mono<JSONRPCResponse> handleRequest(McpTransportContext context, JSONRPCRequest request) {
    return Mono.defer(() -> handling.of(context, request.method(), request.params()))
        .map(result -> JSONRPCResponse.result(request.id(), result))
        .onErrorResume(
            McpError.class,
            error -> Mono.just(JSONRPCResponse.error(request.id(), error.getJsonRpcError())));
  }

  @Override
  public Mono<Void> handleNotification(
      McpTransportContext context, JSONRPCNotification notification) {
    return Mono.defer(() -> handling.of(context, notification.method(), notification.params()))
        .then();
  }
}
