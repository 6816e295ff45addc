package io.github.sealwax.mcp.internal;

import io.github.sealwax.Principal;
import io.github.sealwax.mcp.Ledger;
import io.github.sealwax.mcp.LedgerException;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Answers the engine's questions about one request by the author's functions, and resolves its
 * caller at most once. A wrapper around the server shares it with the guard at the handlers.
 */
public final class Caller {
  private static final Map<String, Object> ANONYMOUS = Map.of("anonymous", true);

  private final GuardCore guard;
  private final boolean counts;
  private final long arrived = System.nanoTime();
  private final ReentrantLock identifying = new ReentrantLock();
  private volatile @Nullable McpTransportContext context;
  private volatile @Nullable Map<String, Object> known;
  private volatile Engine.@Nullable Told failed;

  public Caller(GuardCore guard, @Nullable McpTransportContext context) {
    this(guard, context, true);
  }

  /** Tells of events only if they count. */
  public Caller(GuardCore guard, @Nullable McpTransportContext context, boolean counts) {
    this.counts = counts;
    this.guard = guard;
    this.context = context;
    this.known = guard.isAnonymous() ? ANONYMOUS : null;
  }

  /** Returns the caller as a document, if it was resolved. */
  public @Nullable Map<String, Object> known() {
    return known;
  }

  /**
   * Answers the engine's questions; returns the first step that is no question, or one to others or
   * for the body.
   */
  public Step drive(Engine.Exchange exchange, Step first) {
    return drive(exchange, first, null);
  }

  /** Runs an exchange of one operation to its last step. */
  public Step finish(Engine.Begun begun) {
    try (Engine.Exchange exchange = begun.exchange()) {
      return drive(exchange, begun.step());
    }
  }

  public Step drive(
      Engine.Exchange exchange, Step first, @Nullable Function<Step, Engine.Told> ofMessage) {
    Step step = first;
    tell(exchange, step);
    while (step.is("ask") && !step.asksOthers() && !step.asksBody()) {
      step = exchange.told(answer(step, ofMessage));
      tell(exchange, step);
    }
    return step;
  }

  private Engine.Told answer(Step asked, @Nullable Function<Step, Engine.Told> ofMessage) {
    return switch (asked.text("name")) {
      case "principal" -> {
        identify();
        yield known != null ? Engine.Told.of(known) : failed;
      }
      case "ledger" -> recorded(asked);
      default -> ofMessage.apply(asked);
    };
  }

  private void tell(Engine.Exchange exchange, Step step) {
    step.<Map<String, Object>>list("refused").forEach(guard.hooks()::refused);
    List<Map<String, Object>> events = step.list("events");
    if (counts && !events.isEmpty()) {
      long began = exchange.began() == 0 ? arrived : exchange.began();
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      events.forEach(event -> guard.hooks().happened(event, took));
    }
  }

  /** Resolves the caller once, also for a handler that uses two handles at a time. */
  public void identify() {
    identifying.lock();
    try {
      // Read before the check: close() sets one of the others first, and then clears it.
      McpTransportContext asked = context;
      if (known != null || failed != null) {
        return;
      }
      Principal found = guard.principalOf(asked);
      if (found == null) {
        failed = Engine.Told.of(null);
      } else {
        known = document(found);
      }
    } catch (Throwable e) {
      // An Error, or a checked exception of another language, is no answer either. Its message is
      // not logged: it may hold the credential.
      failed = Engine.Told.threw(e);
    } finally {
      identifying.unlock();
    }
  }

  private Engine.Told recorded(Step step) {
    Duration within = Duration.ofMillis(step.number("withinMs"));
    Ledger.Command command =
        new Ledger.Command(step.text("script"), step.list("keys"), step.list("args"), within);
    try {
      long until = System.nanoTime() + within.toNanos();
      List<String> reply = Failures.awaited(guard.ledger().run(command), within);
      return System.nanoTime() - until > 0 ? Engine.Told.LATE : Engine.Told.of(reply);
    } catch (TimeoutException e) {
      return Engine.Told.LATE;
    } catch (Throwable e) {
      Throwable cause = Failures.cause(e);
      // The message of another exception is not logged: it may hold the store's credentials.
      return cause instanceof LedgerException
          ? Engine.Told.wrong(cause.getMessage())
          : Engine.Told.threw(e);
    }
  }

  /** Releases the request: a task that the handler left behind may still hold this. */
  public void close() {
    if (known == null && failed == null) {
      failed = Engine.Told.wrong("expected before the answer had left");
    }
    context = null;
  }

  public static Map<String, Object> document(Principal principal) {
    if (!(principal instanceof Principal.Caller caller)) {
      return ANONYMOUS;
    }
    Map<String, Object> document = new HashMap<>();
    document.put("issuer", caller.issuer());
    document.put("client", caller.client());
    document.put("subject", caller.subject());
    return document;
  }
}
