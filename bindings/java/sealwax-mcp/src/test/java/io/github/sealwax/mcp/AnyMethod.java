package io.github.sealwax.mcp;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.Map;
import reactor.core.publisher.Mono;

/** A handler of any method of any revision, in place of the SDK's server. */
record AnyMethod(Script script) implements McpStatelessServerHandler {
  private static final Map<String, Object> INITIALIZED =
      Map.of(
          "protocolVersion", "2025-11-25",
          "capabilities", Map.of(),
          "serverInfo", Map.of("name", "s", "version", "1"));

  @Override
  public Mono<JSONRPCResponse> handleRequest(McpTransportContext context, JSONRPCRequest request) {
    return Mono.fromCallable(
        () -> {
          try {
            boolean lists = request.method().equals("tools/list");
            Map<String, Object> returned =
                lists
                    ? script.list(context, request.params())
                    : script.run(context, request.params());
            boolean begins = request.method().equals("initialize");
            return JSONRPCResponse.result(request.id(), begins ? INITIALIZED : returned);
          } catch (McpError e) {
            return JSONRPCResponse.error(request.id(), e.getJsonRpcError());
          }
        });
  }

  @Override
  public Mono<Void> handleNotification(
      McpTransportContext context, JSONRPCNotification notification) {
    return Mono.fromRunnable(() -> script.run(context, notification.params()));
  }
}
