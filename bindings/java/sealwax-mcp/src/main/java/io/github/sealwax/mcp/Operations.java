package io.github.sealwax.mcp;

import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.github.sealwax.mcp.internal.handler.Exchange;
import io.modelcontextprotocol.common.McpTransportContext;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What an author does with handles, links or cursors: a guard, and the members of an operation. */
record Operations(GuardCore guard, Map<String, Object> members) {
  /** Returns the same, with one more member, or another. */
  Operations with(String name, @Nullable Object value) {
    Map<String, Object> changed = new HashMap<>(members);
    changed.put(name, value);
    return new Operations(guard, changed);
  }

  /** Returns the same, for a handle that a client sent. */
  Operations of(@Nullable Object handle) {
    return with("handle", Json.clientValue(handle));
  }

  /** Runs one for the request of a context, with a value as JSON. */
  Step run(McpTransportContext context, String op, @Nullable String value) {
    Exchange served = Exchange.of(guard, context);
    Step step = served.handle(with("op", op).members, value);
    if (step.is("reply")) {
      throw new HandleRefused(served.refused(step), step.code());
    }
    return step;
  }

  /** Runs one that takes no value. */
  Step run(McpTransportContext context, String op) {
    return run(context, op, null);
  }
}
