package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Durations;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpServerTransportProvider;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Seals what leaves an MCP server for its clients, and opens and checks what comes back: cursors,
 * handles, data-layer sessions, and with {@link SealwaxFilter} {@code Mcp-Session-Id}.
 *
 * <p>One guard can protect several servers; all threads may use it.
 */
public final class Guard {
  private final Codec codec;
  private final Map<String, Object> settings;
  private final @Nullable Function<? super McpTransportContext, @Nullable Principal> principalOf;
  private final @Nullable Ledger ledger;
  private final Map<String, QuestionOf> questions;
  private final boolean confirms;
  private final Hooks hooks;
  private volatile Engine engine;
  private volatile @Nullable Function<McpTransportContext, String> first;
  private volatile boolean hasSessions;
  private volatile boolean protects;

  private Guard(Builder builder) {
    codec = builder.codec;
    principalOf = builder.principalOf;
    ledger = builder.ledger;
    questions = Map.copyOf(builder.questions);
    confirms = !builder.confirm.isEmpty() || builder.settings.containsKey("confirmDestructive");
    settings = new LinkedHashMap<>(builder.settings);
    settings.put("events", builder.onEvent != null);
    settings.put("timeLimitMs", builder.timeLimit.toMillis());
    if (ledger != null) {
      settings.put("ledger", builder.ledgerOptions.document(ledger.isLocal()));
    }
    Engine made = new Engine(codec, settings);
    engine = made;
    hooks = new Hooks(builder.onRefused, builder.onEvent, made::report);
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
    protects = true;
    return new StatelessTransport(transport, new Boundary(this), between);
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
    protects = true;
    return new ConnectedTransport(transport, new Boundary(this), between);
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
    Caller caller = new Caller(this, null);
    Step step = caller.finish(engine.revoke(Caller.document(principal), retainFor));
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
    String state = Served.of(this, context).state();
    return state == null ? null : Json.value(state, Types.of(type));
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
    return Served.of(this, context).sealState(Json.write(value));
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
    Served served = Served.of(this, context);
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
    SessionCore session = Served.of(this, context).session();
    Negotiated negotiated = session == null ? negotiated(context) : null;
    return session != null ? session.ulid : negotiated == null ? null : negotiated.id();
  }

  /**
   * Returns the handles of a type whose state the server keeps, by the handle's ulid. They live as
   * long as their key.
   *
   * @param type a small letter, then up to 31 small letters or digits
   * @return the handles
   */
  public ReferenceHandles referenceHandles(String type) {
    engine.checkHandleType(type);
    return new ReferenceHandles(this, Map.of("type", type));
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
    return selfContainedHandles(type, Types.of(state));
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
    engine.checkHandleType(type);
    return new SelfContainedHandles<>(this, state, Map.of("type", type));
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
    return links(name, Types.of(value));
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
    engine.checkHandleType(name);
    return new Links<>(this, value, Map.of("type", name));
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
    return new Pages<>(this, Types.of(position), Map.of("type", "cursor"));
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
    if (protects || hasSessions) {
      throw new IllegalStateException(
          "sessions: expected to be called once, before guard.protect(transport)");
    }
    settings.put("sessions", wanted.members);
    engine = new Engine(codec, settings);
    first = wanted.initial;
    hasSessions = true;
    return new Sessions<>(this, wanted.type);
  }

  /**
   * Returns what was negotiated when the session of a request began, over HTTP behind a {@link
   * SealwaxFilter}.
   *
   * @param context the handler's
   * @return null if the request has no such session
   */
  public @Nullable Negotiated negotiated(McpTransportContext context) {
    TransportExchange outer = Served.of(this, context).outer();
    return outer == null ? null : outer.negotiated();
  }

  Engine.Told firstOf(Served served) {
    try {
      String value = first == null ? null : first.apply(served.context());
      return new Engine.Told(value, null, null);
    } catch (Throwable e) {
      return Engine.Told.threw(e);
    }
  }

  /** Returns whether the calls of some tools are confirmed. */
  boolean confirms() {
    return confirms;
  }

  /** Answers with the question of a confirmation, as the author's function makes it of a call. */
  Engine.Told questionOf(Map<String, Object> call) {
    try {
      Map<String, Object> arguments = Json.members(call.get("arguments"));
      String question = questions.get(call.get("name")).of(Collections.unmodifiableMap(arguments));
      return Engine.Told.ofClients(question);
    } catch (Throwable e) {
      return Engine.Told.threw(e);
    }
  }

  Engine engine() {
    return engine;
  }

  Engine engineFor(Map<String, Object> transport) {
    Map<String, Object> more = new LinkedHashMap<>(settings);
    more.put("transport", transport);
    return new Engine(codec, more);
  }

  Hooks hooks() {
    return hooks;
  }

  boolean isAnonymous() {
    return principalOf == null;
  }

  boolean hasSessions() {
    return hasSessions;
  }

  boolean hasLedger() {
    return ledger != null;
  }

  @Nullable Principal principalOf(@Nullable McpTransportContext context) {
    return principalOf.apply(context == null ? McpTransportContext.EMPTY : context);
  }

  Ledger ledger() {
    return ledger;
  }

  static @Nullable Instant instant(Step done) {
    String expiresAt = done.text("expiresAt");
    return expiresAt == null ? null : Instant.parse(expiresAt);
  }

  /** What a guard is to be. */
  public static final class Builder {
    private final Codec codec;
    private final Map<String, Object> settings = new LinkedHashMap<>();
    private final Map<String, Object> only = new LinkedHashMap<>();
    private final Map<String, Map<String, Object>> confirm = new LinkedHashMap<>();
    private final Map<String, QuestionOf> questions = new HashMap<>();
    private @Nullable Function<? super McpTransportContext, @Nullable Principal> principalOf;
    private boolean hasPrincipal;
    private @Nullable Ledger ledger;
    private LedgerOptions ledgerOptions = LedgerOptions.DEFAULT;
    private Duration timeLimit = Duration.ofSeconds(1);
    private @Nullable Consumer<? super Refusal> onRefused;
    private @Nullable Consumer<? super TokenEvent> onEvent;

    private Builder(Codec codec) {
      this.codec = codec;
    }

    /**
     * Sets what resolves the caller, at most once for a request.
     *
     * @param principalOf gets the context of the transport, which the server's {@code
     *     contextExtractor} fills; gives null for a caller who is not authenticated, which refuses
     *     the request
     * @return this builder
     */
    public Builder principal(
        Function<? super McpTransportContext, @Nullable Principal> principalOf) {
      this.principalOf =
          Objects.requireNonNull(
              principalOf,
              "principal: expected a function, found none: anonymous() is for a server without authentication");
      hasPrincipal = true;
      return this;
    }

    /**
     * Lets anyone who holds a token use it: for a server without authentication.
     *
     * @return this builder
     */
    public Builder anonymous() {
      principalOf = null;
      hasPrincipal = true;
      return this;
    }

    /**
     * Sets what remembers used and ended tokens, and the latest state of each session.
     *
     * @param ledger the ledger
     * @return this builder
     */
    public Builder ledger(Ledger ledger) {
      return ledger(ledger, LedgerOptions.DEFAULT);
    }

    /**
     * Sets what remembers used and ended tokens, and the latest state of each session.
     *
     * @param ledger the ledger
     * @param options its settings
     * @return this builder
     */
    public Builder ledger(Ledger ledger, LedgerOptions options) {
      this.ledger = Objects.requireNonNull(ledger, "ledger: expected one, found none");
      this.ledgerOptions = options;
      return this;
    }

    /**
     * Sets what all that is asked for one request may take together, 1 second by default.
     *
     * @param timeLimit at most a minute; one command of the ledger has three tenths of it
     * @return this builder
     */
    public Builder timeLimit(Duration timeLimit) {
      this.timeLimit = timeLimit;
      return this;
    }

    /**
     * Sets what is called at once with every refusal, which the log has too: a function that does
     * not wait.
     *
     * @param onRefused the function
     * @return this builder
     */
    public Builder onRefused(Consumer<? super Refusal> onRefused) {
      this.onRefused =
          Objects.requireNonNull(onRefused, "onRefused: expected a function, found none");
      return this;
    }

    /**
     * Sets what is called at once with whatever was opened, sealed, ended or revoked: a function
     * that does not wait.
     *
     * @param onEvent the function
     * @return this builder
     */
    public Builder onEvent(Consumer<? super TokenEvent> onEvent) {
      this.onEvent = Objects.requireNonNull(onEvent, "onEvent: expected a function, found none");
      return this;
    }

    /**
     * Sets the lifetime of a {@code requestState}: 10 minutes by default.
     *
     * @param ttl at least a second
     * @return this builder
     */
    public Builder requestStateTtl(Duration ttl) {
      settings.put("requestStateTtl", Durations.seconds("requestStateTtl", ttl));
      return this;
    }

    /**
     * Binds the {@code requestState} of a tool or a prompt to some of its arguments alone; the
     * others may differ when the client comes back.
     *
     * @param target the tool or the prompt
     * @param names the arguments that decide what the request does
     * @return this builder
     */
    public Builder only(String target, Collection<String> names) {
      only.put(target, List.copyOf(names));
      settings.put("only", only);
      return this;
    }

    /**
     * Runs a tool only for a call that its user confirmed: its handler needs no code for it.
     *
     * <p>A client of revision 2026-07-28 that elicits is asked by a result with the {@code
     * resultType} {@code input_required}. An earlier one is asked by {@code elicitation/create} on
     * its connection while the call waits, up to 50 seconds: on stdio and HTTP with SSE, never by a
     * server without sessions. One that shows the pages of servers (MCP Apps) shows a card. For
     * other clients the tool does not run; the model hears why, and the log has {@code
     * unconfirmed}.
     *
     * <p>The confirmation is bound to the user, the tool, its arguments and the question, and
     * counts for 10 minutes; with a ledger it counts once.
     *
     * @param tool its name
     * @param question such as {@code Delete note {id}?}: an argument of the call in braces is shown
     *     as JSON, as {@code (none)} if it is absent; <code>{{</code> and <code>}}</code> are
     *     braces. {@link #build} throws for an empty one, one with other braces, and one with an
     *     argument that {@link #only} does not bind
     * @return this builder
     */
    public Builder confirm(String tool, String question) {
      return confirm(tool, Map.of("message", question));
    }

    /**
     * Runs a tool only for a call that its user confirmed, as {@link #confirm(String, String)}; a
     * function makes the question.
     *
     * @param tool its name
     * @param question gets the arguments of the call; what it throws, and an empty question, refuse
     *     the call as an internal error
     * @return this builder
     */
    public Builder confirm(String tool, QuestionOf question) {
      questions.put(tool, Objects.requireNonNull(question));
      return confirm(tool, Map.of());
    }

    private Builder confirm(String tool, Map<String, Object> facts) {
      confirm.put(tool, facts);
      settings.put("confirm", confirm);
      return this;
    }

    /**
     * Has the model ask, where the user cannot be asked: it hears the question, and brings the
     * answer with the same call, once. It proves no consent.
     *
     * @param tool one that is confirmed
     * @return this builder
     */
    public Builder preview(String tool) {
      Map<String, Object> facts = confirm.get(tool);
      if (facts == null) {
        throw new IllegalArgumentException(
            "preview: expected a tool that is confirmed before, found " + tool);
      }
      Map<String, Object> more = new LinkedHashMap<>(facts);
      more.put("fallback", "preview");
      return confirm(tool, more);
    }

    /**
     * Confirms each tool that the server's own {@code tools/list} marks as destructive, as {@link
     * #confirm(String, String)}: by the specification each one unless its annotations have a {@code
     * readOnlyHint} of true or a {@code destructiveHint} of false. Its user is asked {@code Run
     * {tool} with {arguments}?}.
     *
     * @return this builder
     */
    public Builder confirmDestructive() {
      settings.put("confirmDestructive", true);
      return this;
    }

    /**
     * Confirms as {@link #confirmDestructive()}, and has the model ask as {@link #preview}.
     *
     * @return this builder
     */
    public Builder previewDestructive() {
      settings.put("confirmDestructive", Map.of("fallback", "preview"));
      return this;
    }

    /**
     * Sets how long a user may take to confirm, where the client is asked by {@code
     * input_required}: 10 minutes by default.
     *
     * @param ttl at least a second, in whole seconds
     * @return this builder
     */
    public Builder confirmTtl(Duration ttl) {
      settings.put("confirmTtl", Durations.seconds("confirmTtl", ttl));
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
      return new Guard(this);
    }
  }
}
