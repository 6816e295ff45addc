package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.mcp.internal.GuardCore;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpServerSession;
import io.modelcontextprotocol.spec.McpServerTransportProvider;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Transports of the SDK with one method in the guard's hands; all others stay their own. */
public final class Transports {
  private Transports() {}

  /** Returns a transport of a server without sessions, whose handler is guarded. */
  public static McpStatelessServerTransport guarded(
      GuardCore guard,
      McpStatelessServerTransport transport,
      UnaryOperator<McpStatelessServerHandler> between) {
    return replacing(
        McpStatelessServerTransport.class,
        transport,
        "setMcpHandler",
        (McpStatelessServerHandler server) -> {
          transport.setMcpHandler(new GuardedHandler(guard, between.apply(server), null));
          return null;
        });
  }

  /** Returns a transport of one session for each connection, whose sessions are guarded. */
  public static McpServerTransportProvider guarded(
      GuardCore guard,
      McpServerTransportProvider transport,
      UnaryOperator<McpStatelessServerHandler> between) {
    return replacing(
        McpServerTransportProvider.class,
        transport,
        "setSessionFactory",
        (McpServerSession.Factory factory) -> {
          transport.setSessionFactory(
              connection -> new GuardedSession(guard, factory, connection, between));
          return null;
        });
  }

  /** Replaces the method of a name, of one parameter; the SDK has to have it. */
  @SuppressWarnings("unchecked")
  static <T, P> T replacing(
      Class<T> type, T inner, String name, Function<P, @Nullable Object> replacement) {
    Method replaced =
        Arrays.stream(type.getMethods())
            .filter(method -> method.getName().equals(name))
            .findFirst()
            .orElseThrow();
    Object replacing =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, given) -> {
              if (method.equals(replaced)) {
                return replacement.apply((P) given[0]);
              }
              if (method.getName().equals("equals")) {
                return proxy == given[0];
              }
              try {
                return method.invoke(inner, given);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
    return type.cast(replacing);
  }
}
