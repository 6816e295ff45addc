package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.GuardCore;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The options of a {@link Guard}, which {@link Guard#builder} begins. */
public abstract sealed class GuardOptions permits Guard.Builder {
  private final Map<String, Object> settings = new LinkedHashMap<>();
  private final Map<String, Object> only = new LinkedHashMap<>();
  private final Map<String, Map<String, Object>> confirm = new LinkedHashMap<>();
  private final Map<String, QuestionOf> questions = new HashMap<>();
  private @Nullable Function<? super McpTransportContext, @Nullable Principal> principalOf;
  boolean hasPrincipal;
  private @Nullable Ledger ledger;
  private LedgerOptions ledgerOptions = LedgerOptions.DEFAULT;
  private Duration timeLimit = Duration.ofSeconds(1);
  private @Nullable Consumer<? super Refusal> onRefused;
  private @Nullable Consumer<? super TokenEvent> onEvent;

  GuardOptions() {}

  abstract Guard.Builder builder();

  /**
   * Sets what resolves the caller, at most once for a request.
   *
   * @param principalOf gets the context of the transport, which the server's {@code
   *     contextExtractor} fills; gives null for a caller who is not authenticated, which refuses
   *     the request
   * @return this builder
   */
  public Guard.Builder principal(
      Function<? super McpTransportContext, @Nullable Principal> principalOf) {
    this.principalOf =
        Objects.requireNonNull(
            principalOf,
            "principal: expected a function, found none: anonymous() is for a server without authentication");
    hasPrincipal = true;
    return builder();
  }

  /**
   * Lets anyone who holds a token use it: for a server without authentication.
   *
   * @return this builder
   */
  public Guard.Builder anonymous() {
    principalOf = null;
    hasPrincipal = true;
    return builder();
  }

  /**
   * Sets what remembers used and ended tokens, and the latest state of each session.
   *
   * @param ledger the ledger
   * @return this builder
   */
  public Guard.Builder ledger(Ledger ledger) {
    return ledger(ledger, LedgerOptions.DEFAULT);
  }

  /**
   * Sets what remembers used and ended tokens, and the latest state of each session.
   *
   * @param ledger the ledger
   * @param options its settings
   * @return this builder
   */
  public Guard.Builder ledger(Ledger ledger, LedgerOptions options) {
    this.ledger = Objects.requireNonNull(ledger, "ledger: expected one, found none");
    this.ledgerOptions = options;
    return builder();
  }

  /**
   * Sets what all that is asked for one request may take together, 1 second by default.
   *
   * @param timeLimit at most a minute; one command of the ledger has three tenths of it
   * @return this builder
   */
  public Guard.Builder timeLimit(Duration timeLimit) {
    this.timeLimit = timeLimit;
    return builder();
  }

  /**
   * Sets what is called at once with every refusal, which the log has too: a function that does not
   * wait.
   *
   * @param onRefused the function
   * @return this builder
   */
  public Guard.Builder onRefused(Consumer<? super Refusal> onRefused) {
    this.onRefused =
        Objects.requireNonNull(onRefused, "onRefused: expected a function, found none");
    return builder();
  }

  /**
   * Sets what is called at once with whatever was opened, sealed, ended or revoked: a function that
   * does not wait.
   *
   * @param onEvent the function
   * @return this builder
   */
  public Guard.Builder onEvent(Consumer<? super TokenEvent> onEvent) {
    this.onEvent = Objects.requireNonNull(onEvent, "onEvent: expected a function, found none");
    return builder();
  }

  /**
   * Sets the lifetime of a {@code requestState}: 10 minutes by default.
   *
   * @param ttl at least a second
   * @return this builder
   */
  public Guard.Builder requestStateTtl(Duration ttl) {
    settings.put("requestStateTtl", Durations.seconds("requestStateTtl", ttl));
    return builder();
  }

  /**
   * Binds the {@code requestState} of a tool or a prompt to some of its arguments alone; the others
   * may differ when the client comes back.
   *
   * @param target the tool or the prompt
   * @param names the arguments that decide what the request does
   * @return this builder
   */
  public Guard.Builder only(String target, Collection<String> names) {
    only.put(target, List.copyOf(names));
    settings.put("only", only);
    return builder();
  }

  /**
   * Runs a tool only for a call that its user confirmed: its handler needs no code for it.
   *
   * <p>A client of revision 2026-07-28 that elicits is asked by a result with the {@code
   * resultType} {@code input_required}. An earlier one is asked by {@code elicitation/create} on
   * its connection while the call waits, up to 50 seconds: on stdio and HTTP with SSE, never by a
   * server without sessions. One that shows the pages of servers (MCP Apps) shows a card. For other
   * clients the tool does not run; the model hears why, and the log has {@code unconfirmed}.
   *
   * <p>The confirmation is bound to the user, the tool, its arguments and the question, and counts
   * for 10 minutes; with a ledger it counts once.
   *
   * @param tool its name
   * @param question such as {@code Delete note {id}?}: an argument of the call in braces is shown
   *     as JSON, as {@code (none)} if it is absent; <code>{{</code> and <code>}}</code> are braces.
   *     {@link Guard.Builder#build} throws for an empty one, one with other braces, and one with an
   *     argument that {@link #only} does not bind
   * @return this builder
   */
  public Guard.Builder confirm(String tool, String question) {
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
  public Guard.Builder confirm(String tool, QuestionOf question) {
    questions.put(tool, Objects.requireNonNull(question));
    return confirm(tool, Map.of());
  }

  private Guard.Builder confirm(String tool, Map<String, Object> facts) {
    confirm.put(tool, facts);
    settings.put("confirm", confirm);
    return builder();
  }

  /**
   * Has the model ask, where the user cannot be asked: it hears the question, and brings the answer
   * with the same call, once. It proves no consent.
   *
   * @param tool one that is confirmed
   * @return this builder
   */
  public Guard.Builder preview(String tool) {
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
  public Guard.Builder confirmDestructive() {
    settings.put("confirmDestructive", true);
    return builder();
  }

  /**
   * Confirms as {@link #confirmDestructive()}, and has the model ask as {@link #preview}.
   *
   * @return this builder
   */
  public Guard.Builder previewDestructive() {
    settings.put("confirmDestructive", Map.of("fallback", "preview"));
    return builder();
  }

  /**
   * Sets how long a user may take to confirm, where the client is asked by {@code input_required}:
   * 10 minutes by default.
   *
   * @param ttl at least a second, in whole seconds
   * @return this builder
   */
  public Guard.Builder confirmTtl(Duration ttl) {
    settings.put("confirmTtl", Durations.seconds("confirmTtl", ttl));
    return builder();
  }

  /** Returns them as the engine, and those who call the author's functions, take them. */
  GuardCore.Given given(Codec codec) {
    Map<String, Object> all = new LinkedHashMap<>(settings);
    all.put("events", onEvent != null);
    all.put("timeLimitMs", timeLimit.toMillis());
    if (ledger != null) {
      all.put("ledger", ledgerOptions.document(ledger.isLocal()));
    }
    return new GuardCore.Given(
        codec, all, principalOf, ledger, Map.copyOf(questions), onRefused, onEvent);
  }
}
