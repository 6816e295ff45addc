package io.github.sealwax.mcp;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.Map;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * A server without a wire: requests are given to its handler, which is the guard's if it has one.
 */
final class Direct implements McpStatelessServerTransport {
  private McpStatelessServerHandler handler;

  /** Serves what a function gives for the context, whatever the method is. */
  static Direct serving(Guard guard, Function<McpTransportContext, Map<String, Object>> handling) {
    return answering(guard, context -> Mono.fromCallable(() -> handling.apply(context)));
  }

  static Direct answering(
      Guard guard, Function<McpTransportContext, Mono<Map<String, Object>>> handling) {
    Direct server = new Direct();
    guard
        .protect(server)
        .setMcpHandler(new Answering((context, method, params) -> handling.apply(context)));
    return server;
  }

  @Override
  public void setMcpHandler(McpStatelessServerHandler given) {
    handler = given;
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
    return handler.handleRequest(of(user), new JSONRPCRequest(method, 1, params));
  }

  /** Asks for what has to succeed. */
  Map<String, Object> result(String user, String method, Map<String, Object> params) {
    return Values.object(ask(user, method, params).result());
  }

  /** Notifies in the name of a user. */
  void tell(String user, String method, Map<String, Object> params) {
    handler.handleNotification(of(user), new JSONRPCNotification(method, params)).block();
  }

  private static McpTransportContext of(String user) {
    return McpTransportContext.create(Map.of("user", user));
  }

  /**
   * A handler of any method of any revision that answers with its errors, as the SDK's server does.
   */
  record Answering(Handling handling) implements McpStatelessServerHandler {
    /** Handles a request or a notification. */
    interface Handling {
      Mono<Map<String, Object>> of(McpTransportContext context, String method, Object params);
    }

    @Override
    public Mono<JSONRPCResponse> handleRequest(
        McpTransportContext context, JSONRPCRequest request) {
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
}
