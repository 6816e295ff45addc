package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.mcp.internal.GuardCore;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpServerSession;
import io.modelcontextprotocol.spec.McpServerTransport;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/**
 * A session of the SDK whose messages are guarded.
 *
 * <p>The SDK's session sends the answer to a message in the Reactor context of that message. So an
 * answer is found by its context and never by an id, which a client chooses.
 */
final class GuardedSession extends McpServerSession {
  private static final String ANSWER = "io.github.sealwax.answer";

  private final McpServerSession inner;
  private final McpServerTransport transport;
  private final Questions questions;
  private final GuardedHandler guarded;

  GuardedSession(
      GuardCore guard,
      Factory factory,
      McpServerTransport transport,
      UnaryOperator<McpStatelessServerHandler> between) {
    super("", Duration.ZERO, transport, request -> Mono.empty(), Map.of(), Map.of());
    this.transport = transport;
    this.questions = new Questions(guard, transport);
    this.inner = factory.create(answering(transport));
    this.guarded = new GuardedHandler(guard, between.apply(new Inner()), questions);
  }

  @Override
  public Mono<Void> handle(JSONRPCMessage message) {
    return Mono.deferContextual(
        view -> {
          McpTransportContext context =
              view.getOrDefault(McpTransportContext.KEY, McpTransportContext.EMPTY);
          if (message instanceof JSONRPCRequest request) {
            if (request.method().equals("initialize")) {
              questions.initializing(request);
            }
            return guarded.handleRequest(context, request).flatMap(transport::sendMessage);
          }
          if (message instanceof JSONRPCNotification notification) {
            return guarded.handleNotification(context, notification);
          }
          if (message instanceof JSONRPCResponse response && questions.has(response)) {
            return GuardedHandler.maySwitch(() -> questions.take(context, response)).then();
          }
          return inner.handle(message);
        });
  }

  /** The SDK's session as a handler. */
  private final class Inner implements McpStatelessServerHandler {
    @Override
    public Mono<JSONRPCResponse> handleRequest(
        McpTransportContext context, JSONRPCRequest request) {
      return Mono.defer(
          () -> {
            AtomicReference<JSONRPCResponse> answer = new AtomicReference<>();
            return inner
                .handle(request)
                .contextWrite(it -> it.put(McpTransportContext.KEY, context).put(ANSWER, answer))
                .then(Mono.fromSupplier(answer::get));
          });
    }

    @Override
    public Mono<Void> handleNotification(
        McpTransportContext context, JSONRPCNotification notification) {
      return inner
          .handle(notification)
          .contextWrite(it -> it.put(McpTransportContext.KEY, context));
    }
  }

  /** Keeps an answer for the guard; all else is sent as it is. */
  private static McpServerTransport answering(McpServerTransport transport) {
    return Transports.replacing(
        McpServerTransport.class,
        transport,
        "sendMessage",
        (JSONRPCMessage message) ->
            Mono.deferContextual(
                view -> {
                  if (message instanceof JSONRPCResponse response && view.hasKey(ANSWER)) {
                    AtomicReference<JSONRPCResponse> answer = view.get(ANSWER);
                    answer.set(response);
                    return Mono.empty();
                  }
                  return transport.sendMessage(message);
                }));
  }

  @Override
  public String getId() {
    return inner.getId();
  }

  @Override
  public void init(
      McpSchema.ClientCapabilities capabilities, McpSchema.Implementation implementation) {
    inner.init(capabilities, implementation);
  }

  @Override
  public void setMinLoggingLevel(McpSchema.LoggingLevel level) {
    inner.setMinLoggingLevel(level);
  }

  @Override
  public boolean isNotificationForLevelAllowed(McpSchema.LoggingLevel level) {
    return inner.isNotificationForLevelAllowed(level);
  }

  @Override
  public <T> Mono<T> sendRequest(String method, Object params, TypeRef<T> type) {
    return inner.sendRequest(method, params, type);
  }

  @Override
  public Mono<Void> sendNotification(String method, Object params) {
    return inner.sendNotification(method, params);
  }

  @Override
  public Mono<Void> closeGracefully() {
    return inner.closeGracefully();
  }

  @Override
  public void close() {
    inner.close();
  }
}
