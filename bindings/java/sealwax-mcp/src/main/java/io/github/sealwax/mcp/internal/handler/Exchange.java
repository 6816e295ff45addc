package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.SealwaxException;
import io.github.sealwax.TokenFields;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Text;
import io.github.sealwax.mcp.Negotiated;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.Engine;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.github.sealwax.mcp.internal.transport.Passed;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The message that is being served, which its handler reaches by its context. */
public final class Exchange implements AutoCloseable {
  /** The key in the context of a handler under which this is. */
  private static final String KEY = "io.github.sealwax.served";

  private static final String SESSION = "io.modelcontextprotocol/session";
  private static final String REVISION = "io.modelcontextprotocol/protocolVersion";
  private static final String CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

  private final GuardCore guard;
  private final McpTransportContext context;
  private final String method;
  private final Map<String, Object> params;
  private final Map<?, ?> meta;
  private final boolean isNotification;
  private final @Nullable Questions questions;
  private final @Nullable Passed outer;
  private final Caller caller;

  /** The tools' results for errors, by the very error that a handler passes on. */
  private final Map<JSONRPCError, Map<String, Object>> refused =
      Collections.synchronizedMap(new IdentityHashMap<>());

  private @Nullable TokenFields fields;
  private volatile @Nullable SealwaxException unsealed;
  private volatile boolean isOver;
  private volatile Engine.@Nullable Exchange exchange;
  private volatile @Nullable Step delivered;
  private volatile @Nullable SessionCore session;

  Exchange(
      GuardCore guard,
      McpTransportContext context,
      String method,
      @Nullable Object params,
      boolean isNotification,
      @Nullable Questions questions) {
    this.guard = guard;
    this.context = context;
    this.method = method;
    Map<String, Object> members = Json.members(params);
    this.params = members == null ? Map.of() : members;
    this.meta = this.params.get("_meta") instanceof Map<?, ?> sent ? sent : Map.of();
    this.isNotification = isNotification;
    this.questions = questions;
    this.outer = Passed.of(guard, context);
    this.caller = outer == null ? new Caller(guard, context) : outer.caller();
  }

  /** Returns what a handler's context has for this guard. */
  public static Exchange of(GuardCore guard, McpTransportContext context) {
    if (context.get(KEY) instanceof Exchange served && served.guard == guard) {
      served.expectServing();
      return served;
    }
    throw new IllegalArgumentException(
        "context: expected that of a request to a server that this guard protects, found another:"
            + " build the server on guard.protect(transport)");
  }

  /** The context for the handler. */
  McpTransportContext context() {
    return key -> key.equals(KEY) ? this : context.get(key);
  }

  boolean isTool() {
    return method.equals("tools/call");
  }

  // ---- its way to the handler, and back ----

  /** Returns what the engine decides, or whom else it asks. */
  Step enter() {
    Engine engine = guard.engine();
    fields = isNotification ? null : engine.tokenFields(method);
    if (engine.defers() && token() == null && (fields == null || !fields.needsCaller())) {
      return new Step(
          Map.of("step", "deliver", "report", fields != null ? fields.result() : false));
    }
    if (engine.defers()) {
      // A request whose token fields need the caller brings it; the engine would ask for it first.
      caller.identify();
    }
    return drive(begin());
  }

  private Step drive(Step step) {
    return caller.drive(exchange(), step, this::answer);
  }

  /** Begins the engine's exchange and returns its first step. */
  private synchronized Step begin() {
    Object arguments = fields != null && fields.needsCaller() ? params.get("arguments") : null;
    boolean asks = guard.confirms() && method.startsWith("tools/");
    Map<String, Object> known = caller.known();
    Map<String, Object> who = known == null ? Map.of() : known;
    boolean hasSession = guard.hasSessions() && meta.get(SESSION) != null;
    Map<?, ?> sent = hasSession && meta.get(SESSION) instanceof Map<?, ?> found ? found : Map.of();
    int flags =
        (isNotification ? Frame.NOTIFICATION : 0)
            // The SDK knows no revision 2026-07-28, so its envelope tells.
            | (meta.get(REVISION) == null ? 0 : Frame.MODERN)
            | (hasSession ? Frame.SESSION : 0)
            | (known == null ? 0 : Frame.CALLER)
            | (who.containsKey("anonymous") ? Frame.ANONYMOUS : 0)
            | (asks && questions != null ? Frame.CAN_BE_ASKED : 0);
    Engine.Begun begun =
        guard
            .engine()
            .message(
                flags,
                fields,
                Engine.sent(method),
                Engine.sent(target()),
                written(arguments),
                Engine.sent(token()),
                Text.optional("issuer", (String) who.get("issuer")),
                Text.optional("client", (String) who.get("client")),
                Text.optional("subject", (String) who.get("subject")),
                Engine.sent(guard.hasSessions() ? context.get(Passed.HEADER) : null),
                Engine.sent(sent.get("sessionId")),
                Engine.sent(sent.get("state")),
                Text.decimal(outer == null ? null : outer.withinMs()),
                asks ? capabilities() : null,
                asks ? written(params.get("inputResponses")) : null);
    exchange = begun.exchange();
    if (isOver) {
      begun.exchange().close();
    }
    return begun.step();
  }

  /** Returns the tool, prompt or resource that it names, of any type. */
  private @Nullable Object target() {
    return params.get(fields == null || fields.target() == null ? "name" : fields.target());
  }

  /** Returns the token that the message brings, of any type; null if it brings none. */
  private @Nullable Object token() {
    return fields == null ? null : params.get(fields.param());
  }

  private static byte @Nullable [] written(@Nullable Object sent) {
    return sent == null ? null : Json.bytes(sent);
  }

  /** Returns what the client can do, by what it said last. */
  private byte @Nullable [] capabilities() {
    Object own = meta.get(CAPABILITIES);
    Negotiated settled = negotiated();
    if (own == null && settled != null) {
      own = settled.clientCapabilities();
    }
    return written(own == null && questions != null ? questions.capabilities() : own);
  }

  /** Answers what the engine asks of this message. */
  private Engine.Told answer(Step asked) {
    return asked.text("name").equals("initial")
        ? guard.firstOf(context())
        : guard.questionOf(asked.object("params"));
  }

  /** Asks its user by the connection that it came by, or the server for a page of its own list. */
  Mono<Engine.Told> asked(Step step, McpStatelessServerHandler server) {
    Map<String, Object> given = step.object("params");
    return Mono.defer(
            () ->
                step.text("name").equals("elicit")
                    ? questions.ask(given, caller.known())
                    : server.handleRequest(context, listing(given)).map(Questions::result))
        .timeout(Duration.ofMillis(step.number("withinMs")))
        .map(Engine.Told::ofClients)
        .defaultIfEmpty(Engine.Told.wrong("expected an answer, found none"))
        .onErrorResume(
            e ->
                Mono.just(e instanceof TimeoutException ? Engine.Told.LATE : Engine.Told.threw(e)));
  }

  private JSONRPCRequest listing(Map<String, Object> page) {
    Map<String, Object> list = new HashMap<>(page);
    list.put("_meta", meta);
    return new JSONRPCRequest("tools/list", UUID.randomUUID().toString(), list);
  }

  /** Gives the engine what others answered; returns what it says next. */
  Step told(Engine.Told told) {
    return drive(exchange().told(told));
  }

  void delivered(Step step) {
    delivered = step;
    if (step.has("session")) {
      session = new SessionCore(exchange(), step.object("session"));
    }
  }

  /** Returns the params with the opened value in place of the token. */
  @Nullable Object opened(@Nullable Object sent, Step step) {
    boolean carries = fields != null && params.containsKey(fields.param());
    if (!carries && !step.has("set")) {
      return sent;
    }
    Map<String, Object> changed = new HashMap<>(params);
    if (carries) {
      changed.remove(fields.param());
      if (step.has("opened")) {
        changed.put(fields.param(), step.text("opened"));
      }
    }
    return Json.changed(changed, step.list("set"));
  }

  /** Reports the handler's result, the whole if asked; returns what is set in it. */
  Step result(Map<String, Object> result, boolean whole) {
    return drive(exchange().result(result, fields, whole));
  }

  // ---- in its handler ----

  /** Returns the engine's exchange, which may begin now; it ends with the request. */
  public synchronized Engine.Exchange exchange() {
    expectServing();
    if (exchange == null) {
      begin();
    }
    return exchange;
  }

  public @Nullable SessionCore session() {
    expectServing();
    return session;
  }

  /** Returns what was negotiated over HTTP, if the message came by a filter. */
  public @Nullable Negotiated negotiated() {
    return outer == null ? null : outer.negotiated();
  }

  /** Returns the {@code requestState} that this guard opened. */
  public @Nullable String state() {
    expectServing();
    if (fields == null || !fields.kind().equals("request-state")) {
      throw new IllegalArgumentException(
          "context: expected that of a request that carries a requestState, found another");
    }
    Step step = delivered;
    return step == null ? null : step.text("opened");
  }

  /** Seals the next {@code requestState}; what fails there reaches the log and the handler. */
  public String sealState(String value) {
    try {
      return exchange().sealState(value);
    } catch (SealwaxException failure) {
      unsealed = failure;
      Object target = Json.clientValue(target());
      Map<String, Object> about = new HashMap<>();
      about.put("kind", "request-state");
      about.put("method", method);
      about.put("target", target instanceof String ? target : null);
      about.put("principal", caller.known());
      guard.hooks().report(failure.code(), failure.getMessage(), about);
      throw failure;
    }
  }

  /** Returns whether {@link #sealState} threw it: then the log has it already. */
  boolean isReported(SealwaxException failure) {
    return failure == unsealed;
  }

  /** Runs an operation on a handle, a link or a cursor. */
  public Step handle(Map<String, Object> operation, @Nullable String value) {
    Step step = caller.finish(exchange().handle(operation, value));
    expectServing();
    return step;
  }

  /** Returns the error to throw where an operation was refused. */
  public JSONRPCError refused(Step reply) {
    JSONRPCError error = reply.error();
    refused.put(error, reply.object("tool"));
    return error;
  }

  /**
   * Returns a tool's result for what {@link #refused} gave, where its handler did not catch that.
   */
  @Nullable Map<String, Object> refusedBy(@Nullable JSONRPCError error) {
    return refused.get(error);
  }

  private void expectServing() {
    if (isOver) {
      throw new IllegalStateException(
          "context: expected that of a request that is being served, found one that was answered or"
              + " cancelled");
    }
  }

  /** Ends the request, answered or cancelled: nothing is opened or sealed for it later. */
  @Override
  public synchronized void close() {
    isOver = true;
    delivered = null;
    session = null;
    if (exchange != null) {
      exchange.close();
    }
    if (outer == null) {
      caller.close();
    }
  }
}
