package io.github.sealwax.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The data-layer session of a request, with its value as JSON. */
final class SessionCore {
  final String id;
  final String ulid;
  final long generation;
  private final Engine.Exchange exchange;
  private @Nullable String value;

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

  Map<String, Object> fork() {
    return exchange.fork();
  }
}
