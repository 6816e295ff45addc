package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.SealwaxException;
import io.github.sealwax.TokenFields;
import io.github.sealwax.mcp.Negotiated;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.Engine;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.github.sealwax.mcp.internal.transport.TransportExchange;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The message that is being served, which its handler reaches by its context. */
public final class Served implements AutoCloseable {
  /** The key in the context of a handler under which this is. */
  private static final String KEY = "io.github.sealwax.served";

  private static final String SESSION = "io.modelcontextprotocol/session";
  private static final String REVISION = "io.modelcontextprotocol/protocolVersion";
  private static final String CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

  final GuardCore guard;
  final Caller caller;
  final @Nullable TokenFields fields;
  private final Engine engine;
  private final String method;
  private final Map<String, Object> params;
  private final boolean isNotification;
  private final @Nullable Questions questions;
  private final @Nullable TransportExchange outer;

  /** The tools' results for errors, by the very error that a handler passes on. */
  private final Map<JSONRPCError, Map<String, Object>> refused =
      Collections.synchronizedMap(new IdentityHashMap<>());

  private volatile @Nullable SealwaxException unsealed;
  private final McpTransportContext context;
  private volatile boolean isOver;
  private volatile Engine.@Nullable Exchange exchange;
  private volatile @Nullable Step delivered;
  private volatile @Nullable SessionCore session;

  public Served(
      GuardCore guard,
      Engine engine,
      McpTransportContext context,
      String method,
      @Nullable Object params,
      boolean isNotification,
      @Nullable Questions questions) {
    this.guard = guard;
    this.engine = engine;
    this.context = context;
    this.method = method;
    Map<String, Object> members = Json.members(params);
    this.params = members == null ? Map.of() : members;
    this.isNotification = isNotification;
    this.questions = questions;
    this.fields = isNotification ? null : engine.tokenFields(method);
    this.outer = TransportExchange.of(guard, context);
    this.caller = outer == null ? new Caller(guard, context) : outer.caller();
  }

  /** Returns what a handler's context has for this guard. */
  public static Served of(GuardCore guard, McpTransportContext context) {
    if (context.get(KEY) instanceof Served served && served.guard == guard) {
      served.expectServing();
      return served;
    }
    throw new IllegalArgumentException(
        "context: expected that of a request to a server that this guard protects, found another: build the server"
            + " on guard.protect(transport)");
  }

  /** The context for the handler. */
  McpTransportContext context() {
    return key -> key.equals(KEY) ? this : context.get(key);
  }

  String method() {
    return method;
  }

  /** Returns the token that the message brings, of any type; null if it brings none. */
  @Nullable Object token() {
    return fields == null ? null : params.get(fields.param());
  }

  boolean mayDefer() {
    return engine.defers() && token() == null && (fields == null || !fields.needsCaller());
  }

  /** Returns the tool, prompt or resource that it names, of any type. */
  private @Nullable Object target() {
    return params.get(fields == null || fields.target() == null ? "name" : fields.target());
  }

  /** Begins the engine's exchange and returns its first step. */
  synchronized Step begin() {
    Object arguments = fields != null && fields.needsCaller() ? params.get("arguments") : null;
    Engine.Begun begun =
        engine.message(
            new Engine.Message(
                method,
                target(),
                arguments == null ? null : Json.writeClients(arguments),
                token(),
                guard.hasSessions() ? sentSession() : null,
                guard.hasSessions()
                        && context.get(TransportExchange.HEADER) instanceof String header
                    ? header
                    : null,
                caller.known(),
                outer == null ? null : outer.withinMs(),
                isNotification,
                isModern(),
                user()),
            fields);
    exchange = begun.exchange();
    if (isOver) {
      begun.exchange().close();
    }
    return begun.step();
  }

  /** Returns whether it is of revision 2026-07-28: the SDK knows none, so its envelope tells. */
  private boolean isModern() {
    return params.get("_meta") instanceof Map<?, ?> meta && meta.get(REVISION) != null;
  }

  /** Returns how the user of a call can be asked, where the guard confirms the tool. */
  private Engine.@Nullable User user() {
    if (!guard.confirms() || !method.startsWith("tools/")) {
      return null;
    }
    Object own = params.get("_meta") instanceof Map<?, ?> meta ? meta.get(CAPABILITIES) : null;
    Object responses = params.get("inputResponses");
    Negotiated settled = negotiated();
    if (own == null && settled != null) {
      own = settled.clientCapabilities();
    }
    String said = questions == null ? null : questions.capabilities();
    return new Engine.User(
        own == null ? said : Json.writeClients(own),
        responses == null ? null : Json.writeClients(responses),
        questions != null);
  }

  /** Answers what the engine asks of this message. */
  Engine.Told answer(Step asked) {
    if (asked.text("name").equals("initial")) {
      return guard.firstOf(context());
    }
    return guard.questionOf(asked.object("params"));
  }

  /** Asks its user by the connection that it came by, or the server for a page of its own list. */
  Mono<Engine.Told> told(
      Step asked, BiFunction<McpTransportContext, JSONRPCRequest, Mono<JSONRPCResponse>> next) {
    Duration within = Duration.ofMillis(asked.number("withinMs"));
    Map<String, Object> given = asked.object("params");
    return Mono.defer(
            () ->
                asked.text("name").equals("elicit")
                    ? questions.ask(given, caller.known())
                    : next.apply(context, listing(given)).map(Questions::result))
        .timeout(within)
        .map(Engine.Told::ofClients)
        .defaultIfEmpty(Engine.Told.wrong("expected an answer, found none"))
        .onErrorResume(
            e ->
                Mono.just(e instanceof TimeoutException ? Engine.Told.LATE : Engine.Told.threw(e)));
  }

  private JSONRPCRequest listing(Map<String, Object> page) {
    Map<String, Object> list = new HashMap<>(page);
    list.put("_meta", params.getOrDefault("_meta", Map.of()));
    return new JSONRPCRequest("tools/list", UUID.randomUUID().toString(), list);
  }

  private @Nullable Map<String, Object> sentSession() {
    if (!(params.get("_meta") instanceof Map<?, ?> meta) || meta.get(SESSION) == null) {
      return null;
    }
    Map<String, Object> sent = new HashMap<>();
    if (meta.get(SESSION) instanceof Map<?, ?> metadata) {
      sent.put("id", metadata.get("sessionId"));
      sent.put("state", metadata.get("state"));
    }
    return sent;
  }

  /** Returns the engine's exchange, which may begin now; it ends with the request. */
  public synchronized Engine.Exchange exchange() {
    expectServing();
    if (exchange == null) {
      begin();
    }
    return exchange;
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
      guard.hooks().reportFailure(failure, about);
      throw failure;
    }
  }

  /** Returns the result of a tool that failed with what {@link #sealState} threw. */
  @Nullable Map<String, Object> unsealedBy(SealwaxException failure) {
    return failure == unsealed && "tools/call".equals(method)
        ? Map.of(
            "content",
            List.of(Map.of("type", "text", "text", String.valueOf(failure.getMessage()))),
            "isError",
            true)
        : null;
  }

  /** Returns whether the log has it already. */
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
   * Returns the result of a tool whose handle was refused, where its handler did not catch that.
   */
  @Nullable Map<String, Object> refusedBy(@Nullable JSONRPCError error) {
    return refused.get(error);
  }

  private void expectServing() {
    if (isOver) {
      throw new IllegalStateException(
          "context: expected that of a request that is being served, found one that was answered or cancelled");
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
