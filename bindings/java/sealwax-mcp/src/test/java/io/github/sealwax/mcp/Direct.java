package io.github.sealwax.mcp;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.Map;
import java.util.function.BiFunction;
import reactor.core.publisher.Mono;

/** A guarded server without a wire: requests are given to the guard's handler. */
final class Direct implements McpStatelessServerTransport {
  private McpStatelessServerHandler guarded;

  /** Serves what a function gives for the context and the request. */
  Direct(
      Guard guard, BiFunction<McpTransportContext, JSONRPCRequest, Map<String, Object>> handler) {
    this(
        guard,
        new McpStatelessServerHandler() {
          @Override
          public Mono<JSONRPCResponse> handleRequest(
              McpTransportContext context, JSONRPCRequest request) {
            return Mono.fromCallable(
                () -> JSONRPCResponse.result(request.id(), handler.apply(context, request)));
          }

          @Override
          public Mono<Void> handleNotification(
              McpTransportContext context, JSONRPCNotification notification) {
            return Mono.empty();
          }
        });
  }

  Direct(Guard guard, McpStatelessServerHandler handler) {
    guard.protect(this).setMcpHandler(handler);
  }

  @Override
  public void setMcpHandler(McpStatelessServerHandler handler) {
    guarded = handler;
  }

  @Override
  public Mono<Void> closeGracefully() {
    return Mono.empty();
  }

  /** Asks in the name of a user. */
  JSONRPCResponse ask(String user, String method, Map<String, Object> params) {
    return asking(user, method, params).block();
  }

  /** The same, once somebody waits for it. */
  Mono<JSONRPCResponse> asking(String user, String method, Map<String, Object> params) {
    return guarded.handleRequest(of(user), new JSONRPCRequest(method, 1, params));
  }

  /** Notifies in the name of a user. */
  void tell(String user, String method, Map<String, Object> params) {
    guarded.handleNotification(of(user), new JSONRPCNotification(method, params)).block();
  }

  private static McpTransportContext of(String user) {
    return McpTransportContext.create(Map.of("user", user));
  }
}
