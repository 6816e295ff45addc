package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.mcp.internal.GuardCore;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpServerSession;
import io.modelcontextprotocol.spec.McpServerTransportProvider;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/** A transport of one session for each connection, whose sessions are guarded. */
public record ConnectedTransport(
    GuardCore guard,
    McpServerTransportProvider inner,
    UnaryOperator<McpStatelessServerHandler> between)
    implements McpServerTransportProvider {
  @Override
  public void setSessionFactory(McpServerSession.Factory factory) {
    inner.setSessionFactory(transport -> new GuardedSession(guard, factory, transport, between));
  }

  @Override
  public Mono<Void> notifyClients(String method, Object params) {
    return inner.notifyClients(method, params);
  }

  @Override
  public Mono<Void> notifyClient(String sessionId, String method, Object params) {
    return inner.notifyClient(sessionId, method, params);
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
