package io.github.sealwax.mcp.internal;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.github.sealwax.mcp.Ledger;
import io.github.sealwax.mcp.QuestionOf;
import io.github.sealwax.mcp.Refusal;
import io.github.sealwax.mcp.TokenEvent;
import io.modelcontextprotocol.common.McpTransportContext;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the parts of a guard share: its engine, its settings, and the author's functions. */
public final class GuardCore {
  private final Given given;
  private final Map<String, Object> settings;
  private final Hooks hooks;
  private volatile Engine engine;
  private volatile @Nullable Function<McpTransportContext, String> first;
  private volatile boolean protects;

  /** What an author gave: settings as the engine reads them, and functions. */
  public record Given(
      Codec codec,
      Map<String, Object> settings,
      @Nullable Function<? super McpTransportContext, @Nullable Principal> principalOf,
      @Nullable Ledger ledger,
      Map<String, QuestionOf> questions,
      @Nullable Consumer<? super Refusal> onRefused,
      @Nullable Consumer<? super TokenEvent> onEvent) {}

  public GuardCore(Given given) {
    this.given = given;
    settings = new ConcurrentHashMap<>(given.settings());
    engine = new Engine(given.codec(), settings);
    hooks = new Hooks(given.onRefused(), given.onEvent(), engine);
  }

  public Engine engine() {
    return engine;
  }

  /** Returns an engine with settings of the transport too. */
  public Engine engineFor(Map<String, Object> transport) {
    Map<String, Object> more = new LinkedHashMap<>(settings);
    more.put("transport", transport);
    return new Engine(given.codec(), more);
  }

  public Hooks hooks() {
    return hooks;
  }

  public boolean isAnonymous() {
    return given.principalOf() == null;
  }

  public boolean hasLedger() {
    return given.ledger() != null;
  }

  public boolean hasSessions() {
    return settings.containsKey("sessions");
  }

  /** Returns whether the calls of some tools are confirmed. */
  public boolean confirms() {
    return settings.containsKey("confirm") || settings.containsKey("confirmDestructive");
  }

  /** Notes that a server is protected, whose engine does not change any more. */
  public void protect() {
    protects = true;
  }

  /** Serves data-layer sessions; null for the first value, if the server holds them. */
  public void serveSessions(
      Map<String, Object> members, @Nullable Function<McpTransportContext, String> initial) {
    if (protects || hasSessions()) {
      throw new IllegalStateException(
          "sessions: expected to be called once, before guard.protect(transport)");
    }
    Map<String, Object> more = new LinkedHashMap<>(settings);
    more.put("sessions", members);
    engine = new Engine(given.codec(), more);
    first = initial;
    settings.put("sessions", members);
  }

  @Nullable Principal principalOf(@Nullable McpTransportContext context) {
    return given.principalOf().apply(context == null ? McpTransportContext.EMPTY : context);
  }

  Ledger ledger() {
    return given.ledger();
  }

  /** Answers with the first value of a session. */
  public Engine.Told firstOf(McpTransportContext context) {
    try {
      String value = first == null ? null : first.apply(context);
      return new Engine.Told(value, null, null);
    } catch (Throwable e) {
      return Engine.Told.threw(e);
    }
  }

  /** Answers with the question of a confirmation, as the author's function makes it of a call. */
  public Engine.Told questionOf(Map<String, Object> call) {
    try {
      Map<String, Object> arguments = Json.members(call.get("arguments"));
      String question =
          given.questions().get(call.get("name")).of(Collections.unmodifiableMap(arguments));
      return Engine.Told.ofClients(question);
    } catch (Throwable e) {
      return Engine.Told.threw(e);
    }
  }
}
