package io.github.sealwax.mcp;

import io.github.sealwax.SealwaxException;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/** Runs what the handler of an event does. */
final class Script {
  private static final TypeRef<Object> ANY = new TypeRef<>() {};
  private static final int INVALID_PARAMS = -32602;

  private final World world;
  private final Guard guard;
  private final Sessions<Object> sessions;

  Script(World world, Guard guard, Sessions<Object> sessions) {
    this.world = world;
    this.guard = guard;
    this.sessions = sessions;
  }

  /** Records what a handler is given. */
  void seen(Found found, McpTransportContext context, String method, Object params) {
    if (!method.equals(found.sent.get("method"))) {
      return;
    }
    Map<String, Object> members = Json.members(params);
    Map<String, Object> delivered = new HashMap<>();
    delivered.put("state", members == null ? null : members.get("requestState"));
    delivered.put("cursor", members == null ? null : members.get("cursor"));
    delivered.put("session", sessions == null ? null : seen(sessions.of(context)));
    found.delivered = delivered;
  }

  private static Map<String, Object> seen(Session<Object> session) {
    if (session == null) {
      return null;
    }
    Map<String, Object> seen = new HashMap<>();
    seen.put("value", session.value());
    seen.put("generation", (int) session.generation());
    return seen;
  }

  /** Runs the operations of a handler, then what happens during it; returns its result. */
  Map<String, Object> run(Found found, McpTransportContext context, Runnable during) {
    Map<String, Object> returned = new LinkedHashMap<>();
    for (Object one : World.list(found.event.get("handler"))) {
      List<Object> operation = World.list(one);
      switch ((String) operation.get(0)) {
        case "return" ->
            returned = World.object(world.resolved(withStates(context, operation.get(1))));
        case "result" -> returned = sessions.of(context).result(Script::resultOf);
        case "throw" ->
            throw new McpError(
                new McpSchema.JSONRPCResponse.JSONRPCError(-32000, "the handler's own"));
        default -> found.did.add(did(context, operation));
      }
    }
    try {
      during.run();
    } catch (AssertionError e) {
      found.wrong = e;
    }
    return returned;
  }

  private static Map<String, Object> resultOf(Object value) {
    return Map.of("content", List.of(Map.of("type", "text", "text", Json.write(value))));
  }

  /** Returns a result with what an author gets for each state that it names. */
  private Object withStates(McpTransportContext context, Object value) {
    if (value instanceof List<?> items) {
      return items.stream().map(item -> withStates(context, item)).toList();
    }
    if (!(value instanceof Map)) {
      return value;
    }
    Map<String, Object> members = World.object(value);
    if (members.containsKey("$state")) {
      return guard.writeState(context, members.get("$state"));
    }
    Map<String, Object> changed = new LinkedHashMap<>();
    members.forEach((name, member) -> changed.put(name, withStates(context, member)));
    return changed;
  }

  private Object did(McpTransportContext context, List<Object> operation) {
    try {
      return operate(context, operation);
    } catch (HandleRefused e) {
      return Map.of(e.getJsonRpcError().code() == INVALID_PARAMS ? "refused" : "failed", true);
    } catch (SealwaxException e) {
      return Map.of("error", e.code().toString());
    } catch (IllegalArgumentException e) {
      return Map.of("error", "invalid_argument");
    }
  }

  private Object operate(McpTransportContext context, List<Object> operation) {
    Object given = operation.size() > 1 ? operation.get(1) : null;
    return switch ((String) operation.get(0)) {
      case "state" -> Served.of(guard, context).state();
      case "session" -> seen(sessions.of(context));
      case "write" -> {
        sessions.of(context).write(given);
        yield "ok";
      }
      case "update" -> {
        boolean fails =
            operation.size() > 2
                && Boolean.TRUE.equals(World.object(operation.get(2)).get("fails"));
        sessions.of(context).update(adding((Integer) given, fails));
        yield "ok";
      }
      case "fork" -> sessions.of(context).fork();
      default -> handled(context, operation);
    };
  }

  /** A function for {@code update}: it adds to a number. */
  private static UnaryOperator<Object> adding(int number, boolean fails) {
    AtomicInteger calls = new AtomicInteger();
    return value -> {
      if (calls.incrementAndGet() > 1 && fails) {
        throw new IllegalStateException("update");
      }
      return (Integer) value + number;
    };
  }

  private Object handled(McpTransportContext context, List<Object> operation) {
    String name = (String) operation.get(0);
    String type = (String) operation.get(1);
    Object last = operation.get(operation.size() - 1);
    Map<String, Object> options =
        last instanceof Map && operation.size() > 2 ? World.object(last) : Map.of();
    ReferenceHandles rows = guard.referenceHandles(type);
    if (options.containsKey("maxAge")) {
      rows = rows.maxAge(java.time.Duration.ofSeconds(World.number(options.get("maxAge"), 0)));
    }
    SelfContainedHandles<Object> held = guard.selfContainedHandles(type, ANY);
    if (Boolean.TRUE.equals(options.get("once"))) {
      held = held.singleUse();
    }
    Object handle = operation.size() > 2 ? world.resolved(operation.get(2)) : null;
    String made;
    switch (name) {
      case "mint" -> made = rows.mint(context).handle();
      case "check" -> made = rows.check(context, handle).handle();
      case "seal" -> made = held.seal(context, handle).handle();
      case "renew" ->
          made = held.renew(context, held.open(context, handle), operation.get(3)).handle();
      case "open" -> {
        OpenedHandle<Object> opened = held.open(context, handle);
        Map<String, Object> found = new HashMap<>();
        found.put("value", opened.value());
        found.put("generation", (int) opened.generation());
        return found;
      }
      case "end" -> {
        if (Boolean.TRUE.equals(options.get("selfContained"))) {
          held.end(context, handle);
        } else {
          rows.end(context, handle);
        }
        return "ok";
      }
      default -> throw new IllegalArgumentException(name);
    }
    if (options.get("as") instanceof String as) {
      world.handles.put(as, made);
    }
    return new HashMap<>(Map.of("handle", made));
  }

  static List<Object> texts(Object... texts) {
    return new ArrayList<>(List.of(texts));
  }
}
