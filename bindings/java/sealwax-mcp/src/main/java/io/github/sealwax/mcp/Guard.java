package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.github.sealwax.mcp.internal.handler.Exchange;
import io.github.sealwax.mcp.internal.handler.SessionCore;
import io.github.sealwax.mcp.internal.handler.Transports;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpServerTransportProvider;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Seals what leaves an MCP server for its clients, and opens and checks what comes back: cursors,
 * handles, data-layer sessions, and with {@link SealwaxFilter} {@code Mcp-Session-Id}.
 *
 * <p>One guard can protect several servers; all threads may use it.
 */
public final class Guard {
  private final GuardCore core;

  private Guard(GuardCore core) {
    this.core = core;
  }

  /**
   * Begins a guard.
   *
   * @param codec has the keys and the name of the service
   * @return what it is to be; a principal has to be set
   */
  public static Builder builder(Codec codec) {
    return new Builder(codec);
  }

  /**
   * Protects a server without sessions of its own: build it on what this returns.
   *
   * <p>For clients that have a session, put {@link SealwaxFilter} in front of a transport of HTTP.
   *
   * @param transport the server's, such as {@code HttpServletStatelessServerTransport}
   * @return the transport for {@code McpServer.sync} or {@code McpServer.async}
   */
  public McpStatelessServerTransport protect(McpStatelessServerTransport transport) {
    return protect(transport, UnaryOperator.identity());
  }

  /**
   * Protects a server without sessions of its own, with a function of the author's between guard
   * and server: it sees what the guard opened, and what it returns leaves sealed. The SDK makes no
   * pages of its lists: such a function does.
   *
   * @param transport the server's, such as {@code HttpServletStatelessServerTransport}
   * @param between gets the server's handler, and gives one in its place
   * @return the transport for {@code McpServer.sync} or {@code McpServer.async}
   */
  public McpStatelessServerTransport protect(
      McpStatelessServerTransport transport, UnaryOperator<McpStatelessServerHandler> between) {
    core.protect();
    return Transports.guarded(core, transport, between);
  }

  /**
   * Protects a server of one session for each connection, as on stdio: build it on what this
   * returns.
   *
   * @param transport the server's, such as {@code StdioServerTransportProvider}
   * @return the transport for {@code McpServer.sync} or {@code McpServer.async}
   */
  public McpServerTransportProvider protect(McpServerTransportProvider transport) {
    return protect(transport, UnaryOperator.identity());
  }

  /**
   * Protects a server of one session for each connection, as on stdio, with a function of the
   * author's between guard and server.
   *
   * @param transport the server's, such as {@code StdioServerTransportProvider}
   * @param between gets the server's handler, and gives one in its place
   * @return the transport for {@code McpServer.sync} or {@code McpServer.async}
   */
  public McpServerTransportProvider protect(
      McpServerTransportProvider transport, UnaryOperator<McpStatelessServerHandler> between) {
    core.protect();
    return Transports.guarded(core, transport, between);
  }

  /**
   * Signs a principal out everywhere: refuses all tokens and sessions that began until now.
   *
   * <p>The ledger keeps this for 400 days, longer than anything lives. A principal who signs in
   * again within the ledger's clock tolerance has to repeat it. The log has {@code
   * ledger_unconfirmed} if no replica of the store confirmed it, so that a fail-over could lose it.
   * It waits for the ledger.
   *
   * @param principal the same issuer, client and subject as the guard sees
   * @throws LedgerException if the store may not have recorded it
   */
  public void revoke(Principal principal) {
    signOut(principal, null);
  }

  /**
   * Signs a principal out everywhere, as {@link #revoke(Principal)}; the ledger keeps it for a
   * shorter time.
   *
   * @param principal the same issuer, client and subject as the guard sees
   * @param retainFor at least the longest lifetime of anything that the service issues, now or
   *     later, in whole seconds: what lives longer is accepted again afterwards
   * @throws io.github.sealwax.InvalidArgumentException for less than a second, or a part of one
   * @throws LedgerException if the store may not have recorded it
   */
  public void revoke(Principal principal, Duration retainFor) {
    signOut(principal, Durations.seconds("retainFor", retainFor));
  }

  private void signOut(Principal principal, @Nullable Long retainFor) {
    Objects.requireNonNull(principal, "principal: expected whom to sign out, found none");
    Caller caller = new Caller(core, null);
    Step step = caller.finish(core.engine().revoke(Caller.document(principal), retainFor));
    if (!step.is("done")) {
      throw new LedgerException("revoke: expected the ledger to record it, found a failure");
    }
  }

  /**
   * Returns the value of {@link #state} from the round before, for a {@link
   * io.modelcontextprotocol.server.McpStatelessServerHandler} of your own: the SDK's tools have no
   * {@code requestState}.
   *
   * @param context the handler's
   * @param type the type of the value
   * @param <T> the type of the value
   * @return the value; null in the first round
   */
  public <T> @Nullable T opened(McpTransportContext context, Class<T> type) {
    String state = Exchange.of(core, context).state();
    return state == null ? null : Json.value(state, Json.type(type));
  }

  /**
   * Seals a value as the {@code requestState} of a result with the {@code resultType} {@code
   * input_required}, for a {@link io.modelcontextprotocol.server.McpStatelessServerHandler} of your
   * own.
   *
   * @param context the handler's
   * @param value what JSON can hold
   * @return the token, which tells nothing wherever it is shown
   */
  public String state(McpTransportContext context, Object value) {
    return Exchange.of(core, context).sealState(Json.write(value));
  }

  /**
   * Returns a key for an API that does a thing once for each, such as in the header {@code
   * Idempotency-Key}: 32 letters and digits, the same at every retry of a request, different for
   * every user, confirmation and state. A call without a confirmation or a {@code requestState} has
   * the same key whenever it is made again with the same arguments.
   *
   * @param context the handler's
   * @return the key
   */
  public String idempotencyKey(McpTransportContext context) {
    Exchange served = Exchange.of(core, context);
    served.state();
    return served.exchange().idempotencyKey();
  }

  /**
   * Returns the id of the session, to key rows of your own: verified, and the same for the
   * session's whole life. It is that of a data-layer session, or of {@code Mcp-Session-Id} behind a
   * {@link SealwaxFilter}.
   *
   * @param context the handler's
   * @return null for a request without a session
   */
  public @Nullable String sessionId(McpTransportContext context) {
    SessionCore session = Exchange.of(core, context).session();
    if (session != null) {
      return session.ulid;
    }
    Negotiated negotiated = negotiated(context);
    return negotiated == null ? null : negotiated.id();
  }

  /**
   * Returns the handles of a type whose state the server keeps, by the handle's ulid. They live as
   * long as their key.
   *
   * @param type a small letter, then up to 31 small letters or digits
   * @return the handles
   */
  public ReferenceHandles referenceHandles(String type) {
    return new ReferenceHandles(typed(type));
  }

  /**
   * Returns the handles of a type that hold their state themselves. They expire after 24 hours.
   *
   * @param type a small letter, then up to 31 small letters or digits
   * @param state the type of the state
   * @param <T> the type of the state
   * @return the handles
   */
  public <T> SelfContainedHandles<T> selfContainedHandles(String type, Class<T> state) {
    return selfContainedHandles(type, Json.type(state));
  }

  /**
   * Returns the handles of a type that hold their state themselves. They expire after 24 hours.
   *
   * @param type a small letter, then up to 31 small letters or digits
   * @param state the type of the state
   * @param <T> the type of the state
   * @return the handles
   */
  public <T> SelfContainedHandles<T> selfContainedHandles(String type, TypeRef<T> state) {
    return new SelfContainedHandles<>(typed(type).with("selfContained", true), state);
  }

  /**
   * Returns the links of a name: what a browser brings back. They expire after 24 hours.
   *
   * @param name a small letter, then up to 31 small letters or digits
   * @param value the type of the value
   * @param <T> the type of the value
   * @return the links
   */
  public <T> Links<T> links(String name, Class<T> value) {
    return links(name, Json.type(value));
  }

  /**
   * Returns the links of a name: what a browser brings back. They expire after 24 hours.
   *
   * @param name a small letter, then up to 31 small letters or digits
   * @param value the type of the value
   * @param <T> the type of the value
   * @return the links
   */
  public <T> Links<T> links(String name, TypeRef<T> value) {
    return new Links<>(typed(name), value);
  }

  private Operations typed(String type) {
    core.engine().checkHandleType(type);
    return new Operations(core, Map.of("type", type));
  }

  /**
   * Returns the pages of a tool's result, whose cursor the next call has in the argument {@code
   * cursor}. Cursors of lists need nothing.
   *
   * @param position the type of a position
   * @param <T> the type of a position
   * @return the pages
   */
  public <T> Pages<T> pages(Class<T> position) {
    return new Pages<>(new Operations(core, Map.of("type", "cursor")), Json.type(position));
  }

  /**
   * Serves data-layer sessions: one JSON value each, which the client keeps. Call it once, before
   * {@code protect}.
   *
   * @param wanted what they are to be
   * @param <T> the type of the value
   * @return the sessions, for handlers
   */
  public <T> Sessions<T> sessions(Sessions.Settings<T> wanted) {
    core.serveSessions(wanted.members, wanted.initial);
    return new Sessions<>(core, wanted.type);
  }

  /**
   * Returns what was negotiated when the session of a request began, over HTTP behind a {@link
   * SealwaxFilter}.
   *
   * @param context the handler's
   * @return null if the request has no such session
   */
  public @Nullable Negotiated negotiated(McpTransportContext context) {
    return Exchange.of(core, context).negotiated();
  }

  GuardCore core() {
    return core;
  }

  /** What a guard is to be. */
  public static final class Builder extends GuardOptions {
    private final Codec codec;

    private Builder(Codec codec) {
      this.codec = codec;
    }

    @Override
    Builder builder() {
      return this;
    }

    /**
     * Makes the guard.
     *
     * @return the guard
     * @throws io.github.sealwax.InvalidArgumentException for settings that contradict themselves
     */
    public Guard build() {
      if (!hasPrincipal) {
        throw new IllegalStateException(
            "principal: expected a function, or anonymous() for a server without authentication");
      }
      return new Guard(new GuardCore(given(codec)));
    }
  }
}
