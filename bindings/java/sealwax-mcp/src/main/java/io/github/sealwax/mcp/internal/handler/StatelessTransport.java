package io.github.sealwax.mcp.internal.handler;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/** A transport of a server without sessions, whose handler is guarded. */
public final class StatelessTransport implements McpStatelessServerTransport {
  private final McpStatelessServerTransport inner;
  private final Boundary boundary;
  private final UnaryOperator<McpStatelessServerHandler> between;

  public StatelessTransport(
      McpStatelessServerTransport inner,
      Boundary boundary,
      UnaryOperator<McpStatelessServerHandler> between) {
    this.inner = inner;
    this.boundary = boundary;
    this.between = between;
  }

  @Override
  public void setMcpHandler(McpStatelessServerHandler server) {
    McpStatelessServerHandler handler = between.apply(server);
    inner.setMcpHandler(
        new McpStatelessServerHandler() {
          @Override
          public Mono<JSONRPCResponse> handleRequest(
              McpTransportContext context, JSONRPCRequest request) {
            return boundary.request(context, request, null, handler::handleRequest);
          }

          @Override
          public Mono<Void> handleNotification(
              McpTransportContext context, JSONRPCNotification notification) {
            return boundary.notification(context, notification, handler::handleNotification);
          }
        });
  }

  @Override
  public Mono<Void> closeGracefully() {
    return inner.closeGracefully();
  }

  @Override
  public void close() {
    inner.close();
  }

  @Override
  public List<String> protocolVersions() {
    return inner.protocolVersions();
  }
}
