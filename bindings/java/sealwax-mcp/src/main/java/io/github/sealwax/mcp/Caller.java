package io.github.sealwax.mcp;

import io.github.sealwax.Principal;
import io.modelcontextprotocol.common.McpTransportContext;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Answers the engine's questions about one request by the author's functions, and resolves its
 * caller at most once. A wrapper around the server shares it with the guard at the handlers.
 */
final class Caller {
  private static final Map<String, Object> ANONYMOUS = Map.of("anonymous", true);

  private final Guard guard;
  private final long arrived = System.nanoTime();
  private final ReentrantLock identifying = new ReentrantLock();
  private @Nullable McpTransportContext context;
  private volatile @Nullable Map<String, Object> known;
  private volatile @Nullable Map<String, Object> failed;

  Caller(Guard guard, @Nullable McpTransportContext context) {
    this.guard = guard;
    this.context = context;
    this.known = guard.isAnonymous() ? ANONYMOUS : null;
  }

  /** A caller whom an operator named. */
  Caller(Guard guard, Principal named) {
    this.guard = guard;
    this.known = document(named);
  }

  /** Returns the caller as a document, if it was resolved. */
  @Nullable Map<String, Object> known() {
    return known;
  }

  /** An outcome for the engine: an event, and the value beside it as JSON. */
  record Outcome(Map<String, Object> event, @Nullable String value) {
    static Outcome failed(String event, String why) {
      return new Outcome(Map.of(event, Map.of("failed", why)), null);
    }
  }

  /** Answers the engine's questions; returns the first step that is not a question. */
  Step drive(Engine.Exchange exchange, Step first) {
    return drive(exchange, first, null);
  }

  Step drive(Engine.Exchange exchange, Step first, @Nullable Supplier<Outcome> begin) {
    Step step = first;
    while (true) {
      tell(exchange, step);
      Outcome outcome;
      if (step.is("identify")) {
        identify();
        Map<String, Object> who = known != null ? known : failed;
        outcome = new Outcome(Map.of("principal", who), null);
      } else if (step.is("ledger")) {
        outcome = new Outcome(Map.of("ledger", recorded(step)), null);
      } else if (step.is("begin") && begin != null) {
        outcome = begin.get();
      } else {
        return step;
      }
      step = exchange.on(outcome.event(), outcome.value());
    }
  }

  private void tell(Engine.Exchange exchange, Step step) {
    step.objects("refused").forEach(guard.hooks()::refused);
    List<Map<String, Object>> events = step.objects("events");
    if (!events.isEmpty()) {
      long began = exchange.began() == 0 ? arrived : exchange.began();
      Duration took = Duration.ofNanos(System.nanoTime() - began);
      events.forEach(event -> guard.hooks().happened(event, took));
    }
  }

  /** Resolves the caller once, also for a handler that uses two handles at a time. */
  void identify() {
    identifying.lock();
    try {
      if (known != null || failed != null) {
        return;
      }
      Principal found = guard.principalOf(context);
      if (found == null) {
        failed = Map.of("nobody", true);
      } else {
        known = document(found);
      }
    } catch (Throwable e) {
      // An Error, or a checked exception of another language, is no answer either. Its message is
      // not logged: it may hold the credential.
      String expected = "principal: expected a function that gives one, found ";
      failed = Map.of("failed", expected + Failures.named(e));
    } finally {
      identifying.unlock();
    }
  }

  private Object recorded(Step step) {
    Duration within = Duration.ofMillis(step.number("withinMs"));
    Ledger.Command command =
        new Ledger.Command(step.text("script"), step.texts("keys"), step.texts("args"), within);
    String why;
    try {
      long until = System.nanoTime() + within.toNanos();
      List<String> reply = Failures.awaited(guard.ledger().run(command), within);
      if (System.nanoTime() - until > 0) {
        throw new TimeoutException();
      }
      return Objects.requireNonNull(reply);
    } catch (Throwable e) {
      Throwable cause = Failures.cause(e);
      // The message of another exception is not logged: it may hold the store's credentials.
      why =
          cause instanceof LedgerException
              ? cause.getMessage()
              : "expected an answer in %s ms, found %s"
                  .formatted(within.toMillis(), Failures.named(e));
    }
    return Map.of("failed", "ledger: " + why);
  }

  /** Releases the request: a task that the handler left behind may still hold this. */
  void close() {
    if (known == null && failed == null) {
      failed = Map.of("failed", "principal: expected before the answer had left");
    }
    context = null;
  }

  static Map<String, Object> document(Principal principal) {
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
