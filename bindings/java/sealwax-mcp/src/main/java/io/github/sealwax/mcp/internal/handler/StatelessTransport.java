package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.mcp.internal.GuardCore;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/** A transport of a server without sessions, whose handler is guarded. */
public record StatelessTransport(
    GuardCore guard,
    McpStatelessServerTransport inner,
    UnaryOperator<McpStatelessServerHandler> between)
    implements McpStatelessServerTransport {
  @Override
  public void setMcpHandler(McpStatelessServerHandler server) {
    inner.setMcpHandler(new GuardedHandler(guard, between.apply(server), null));
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
