package io.github.sealwax.mcp;

import io.github.sealwax.mcp.internal.Json;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * Between the guard and the SDK's server: keeps what is delivered, which the SDK does not give to a
 * tool, and makes pages, which it does not make.
 */
record OfSdk(Script script, McpStatelessServerHandler server) implements McpStatelessServerHandler {
  private static final String PARAMS = "params";

  /** Serves a tool on a guarded transport. */
  static void serve(Guard guard, McpStatelessServerTransport transport, Script script) {
    Tool play = Tool.builder("play", Map.of("type", "object")).build();
    McpServer.sync(guard.protect(transport, server -> new OfSdk(script, server)))
        .serverInfo("play", "1")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .tools(
            new SyncToolSpecification(
                play,
                (context, call) ->
                    Json.MAPPER.convertValue(
                        script.run(context, context.get(PARAMS)), CallToolResult.class)))
        .build();
  }

  @Override
  public Mono<JSONRPCResponse> handleRequest(McpTransportContext context, JSONRPCRequest request) {
    if (request.method().equals("tools/list")) {
      return Mono.fromCallable(
          () -> JSONRPCResponse.result(request.id(), script.list(context, request.params())));
    }
    return server.handleRequest(
        key -> key.equals(PARAMS) ? request.params() : context.get(key), request);
  }

  @Override
  public Mono<Void> handleNotification(
      McpTransportContext context, JSONRPCNotification notification) {
    return server.handleNotification(context, notification);
  }
}
