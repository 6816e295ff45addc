package io.github.sealwax.mcp;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The data-layer session of a request, with its value as JSON. */
final class SessionCore {
  final String id;
  final String ulid;
  final long generation;
  private final Engine.Exchange exchange;
  private final List<UnaryOperator<String>> updates = new ArrayList<>();
  private @Nullable String value;
  private @Nullable Function<String, Object> make;
  private @Nullable Object firstMade;
  private @Nullable Object lastMade;

  SessionCore(Engine.Exchange exchange, Map<String, Object> opened) {
    this.exchange = exchange;
    id = (String) opened.get("id");
    ulid = (String) opened.get("ulid");
    generation = ((Number) opened.get("generation")).longValue();
    value = (String) opened.get("value");
  }

  synchronized @Nullable String value() {
    return value;
  }

  synchronized void write(String next) {
    exchange.write(next);
    value = next;
  }

  synchronized String update(UnaryOperator<String> function) {
    String next = function.apply(value);
    exchange.update(next);
    updates.add(function);
    value = next;
    return next;
  }

  synchronized Object result(Function<String, Object> function) {
    Object made = function.apply(value);
    make = function;
    firstMade = made;
    lastMade = made;
    return made;
  }

  Map<String, Object> fork() {
    return exchange.fork();
  }

  /**
   * What the function of {@link #result} made at first, and of the value that is written at last.
   */
  synchronized Object @Nullable [] made() {
    return make == null ? null : new Object[] {firstMade, lastMade};
  }

  /** Applies the functions to the value of another request. */
  synchronized Caller.Outcome again(String newer) {
    String asked = "update";
    try {
      String next = newer;
      for (UnaryOperator<String> function : updates) {
        next = function.apply(next);
      }
      if (make != null) {
        asked = "result";
        lastMade = make.apply(next);
      }
      return new Caller.Outcome(Map.of("updated", Map.of()), next);
    } catch (RuntimeException e) {
      // Its message is not logged: it may hold the session's value.
      String expected = "%s: expected a value, found %s".formatted(asked, Failures.named(e));
      return Caller.Outcome.failed("updated", expected);
    }
  }
}
