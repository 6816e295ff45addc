package io.github.sealwax.mcp;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** A handler of any method that answers with its errors, as the SDK's server does. */
record Answering(Function<McpTransportContext, Mono<Map<String, Object>>> handling)
    implements McpStatelessServerHandler {
  @Override
  public Mono<JSONRPCResponse> handleRequest(McpTransportContext context, JSONRPCRequest request) {
    return Mono.defer(() -> handling.apply(context))
        .map(result -> JSONRPCResponse.result(request.id(), result))
        .onErrorResume(
            McpError.class,
            error -> Mono.just(JSONRPCResponse.error(request.id(), error.getJsonRpcError())));
  }

  @Override
  public Mono<Void> handleNotification(
      McpTransportContext context, JSONRPCNotification notification) {
    return Mono.defer(() -> handling.apply(context)).then();
  }
}
