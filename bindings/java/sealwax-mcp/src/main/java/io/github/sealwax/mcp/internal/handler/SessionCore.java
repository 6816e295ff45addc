package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.mcp.internal.Engine;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The data-layer session of a request, with its value as JSON. */
public final class SessionCore {
  public final String id;
  public final String ulid;
  public final long generation;
  private final Engine.Exchange exchange;
  private @Nullable String value;

  public SessionCore(Engine.Exchange exchange, Map<String, Object> opened) {
    this.exchange = exchange;
    id = (String) opened.get("id");
    ulid = (String) opened.get("ulid");
    generation = ((Number) opened.get("generation")).longValue();
    value = (String) opened.get("value");
  }

  public synchronized @Nullable String value() {
    return value;
  }

  public synchronized void write(String next) {
    exchange.write(next);
    value = next;
  }

  public Map<String, Object> fork() {
    return exchange.fork();
  }
}
