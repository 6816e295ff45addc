package io.github.sealwax.mcp;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
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
}
