package io.github.sealwax.mcp;

import io.github.sealwax.Principal;
import io.github.sealwax.SealwaxException;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.handler.Exchange;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** Does what a handler is told, and sees what its request holds. */
final class Script {
  private static final TypeRef<Object> ANY = new TypeRef<>() {};
  private static final int INVALID_PARAMS = -32602;
  private static final int NOT_FOUND = 404;

  private final Guard guard;
  private final Sessions<Object> sessions;
  private final Function<Object, Map<String, Object>> listed;

  Script(Guard guard, Sessions<Object> sessions, Function<Object, Map<String, Object>> listed) {
    this.guard = guard;
    this.listed = listed;
    this.sessions = sessions;
  }

  /**
   * Returns a page of the server's own list, if the guard asks for it; what a client gets if not.
   */
  Map<String, Object> list(McpTransportContext context, Object params) {
    Map<String, Object> members = Json.members(params);
    Map<String, Object> page = listed.apply(members == null ? null : members.get("cursor"));
    return page == null ? run(context, params) : page;
  }

  /** Runs as a handler of a request with these parameters; returns its result. */
  Map<String, Object> run(McpTransportContext context, Object params) {
    Map<String, Object> members = Json.members(params);
    Map<String, Object> seen = new HashMap<>();
    Map<String, Object> given = members == null ? Map.of() : members;
    seen.put("state", given.get("requestState"));
    seen.put("cursor", given.get("cursor"));
    seen.put("arguments", given.get("arguments"));
    seen.put("session", session(context));
    try (Scenario.Handler handler = new Scenario.Handler(seen)) {
      while (true) {
        Map<String, Object> told = handler.next();
        String name = (String) told.get("do");
        if (name.equals("return")) {
          return Values.object(withStates(context, told.get("result")));
        }
        if (name.equals("throw")) {
          throw new McpError(new JSONRPCError(-32000, "the handler's own"));
        }
        Scenario.say("done", did(context, told));
      }
    }
  }

  private Map<String, Object> session(McpTransportContext context) {
    Session<Object> session = sessions == null ? null : sessions.of(context);
    return session == null ? null : opened(session.value(), session.generation());
  }

  private static Map<String, Object> opened(Object value, long generation) {
    Map<String, Object> opened = new HashMap<>();
    opened.put("value", value);
    opened.put("generation", generation);
    return opened;
  }

  /** Returns a result with what an author gets for each state that it names. */
  private Object withStates(McpTransportContext context, Object value) {
    if (value instanceof List<?> items) {
      return items.stream().map(item -> withStates(context, item)).toList();
    }
    if (!(value instanceof Map)) {
      return value;
    }
    Map<String, Object> members = Values.object(value);
    if (members.containsKey("$state")) {
      return guard.state(context, members.get("$state"));
    }
    Map<String, Object> changed = new LinkedHashMap<>();
    members.forEach((name, member) -> changed.put(name, withStates(context, member)));
    return changed;
  }

  private Object did(McpTransportContext context, Map<String, Object> told) {
    try {
      return operate(context, told);
    } catch (HandleRefused e) {
      return Map.of(e.getJsonRpcError().code() == INVALID_PARAMS ? "refused" : "failed", true);
    } catch (LinkRefused e) {
      return Map.of(e.status() == NOT_FOUND ? "refused" : "failed", true);
    } catch (SealwaxException e) {
      return Map.of("error", e.code().toString());
    } catch (IllegalArgumentException e) {
      return Map.of("error", "invalid_argument");
    }
  }

  private Object operate(McpTransportContext context, Map<String, Object> told) {
    List<Object> given = Values.list(told.get("given"));
    Object first = given.isEmpty() ? null : given.get(0);
    return switch ((String) told.get("do")) {
      case "state" -> Exchange.of(guard.core(), context).state();
      case "idempotencyKey" -> guard.idempotencyKey(context);
      case "sessionId" -> guard.sessionId(context);
      case "session" -> session(context);
      case "write" -> {
        sessions.of(context).write(first);
        yield "ok";
      }
      case "fork" -> sessions.of(context).fork();
      case "cursor" -> Map.of("handle", pages(told).cursor(context, first));
      case "position" -> {
        // Of the first page there is none, which Map.of cannot hold.
        Map<String, Object> found = new HashMap<>();
        found.put("position", pages(told).position(context));
        yield found;
      }
      case "link" -> Map.of("handle", links(told).seal(context, given.get(1)));
      case "follow" -> {
        Links<Object> links = links(told);
        boolean keeps = Values.object(told.get("options")).containsKey("keep");
        OpenedLink<Object> link = keeps ? links.preview(given.get(1)) : links.open(given.get(1));
        Principal whose = Objects.requireNonNull(link.principal());
        Map<String, Object> owner = new HashMap<>(Caller.document(whose));
        owner.values().removeIf(part -> part == null);
        yield Map.of("value", link.value(), "principal", owner);
      }
      default -> handled(context, told, (String) first, given.size() > 1 ? given.get(1) : null);
    };
  }

  private Links<Object> links(Map<String, Object> told) {
    Map<String, Object> options = Values.object(told.get("options"));
    Links<Object> links = guard.links((String) Values.list(told.get("given")).get(0), ANY);
    links = Values.with(options, "ttl", links, (it, ttl) -> it.ttl(Stage.seconds(ttl)));
    links =
        Values.with(options, "by", links, (it, who) -> it.by(Stage.principal(Values.object(who))));
    return Values.with(options, "once", links, (it, is) -> it.once());
  }

  private Pages<Object> pages(Map<String, Object> told) {
    Map<String, Object> options = Values.object(told.get("options"));
    Pages<Object> pages = guard.pages(Object.class);
    pages = Values.with(options, "argument", pages, (it, name) -> it.argument((String) name));
    pages = Values.with(options, "list", pages, (it, list) -> it.list((String) list));
    return Values.with(options, "ttl", pages, (it, ttl) -> it.ttl(Stage.seconds(ttl)));
  }

  private Object handled(
      McpTransportContext context, Map<String, Object> told, String type, Object value) {
    Map<String, Object> options = Values.object(told.get("options"));
    ReferenceHandles rows =
        Values.with(
            options,
            "maxAge",
            guard.referenceHandles(type),
            (it, age) -> it.maxAge(Stage.seconds(age)));
    SelfContainedHandles<Object> held =
        Values.with(
            options, "once", guard.selfContainedHandles(type, ANY), (it, is) -> it.singleUse());
    held = Values.with(options, "maxAge", held, (it, age) -> it.maxAge(Stage.seconds(age)));
    return switch ((String) told.get("do")) {
      case "mint" -> Map.of("handle", rows.mint(context).handle());
      case "check" -> Map.of("handle", rows.check(context, value).handle());
      case "mintShort" -> Map.of("handle", rows.mintShort(context, ((Number) value).longValue()));
      case "checkShort" -> Map.of("value", rows.checkShort(context, value));
      case "seal" -> Map.of("handle", held.seal(context, value).handle());
      case "renew" -> {
        Object next = Values.list(told.get("given")).get(2);
        yield Map.of("handle", held.renew(context, held.open(context, value), next).handle());
      }
      case "open" -> {
        OpenedHandle<Object> opened = held.open(context, value);
        yield opened(opened.value(), opened.generation());
      }
      case "end" -> {
        if (options.containsKey("selfContained")) {
          held.end(context, value);
        } else {
          rows.end(context, value);
        }
        yield "ok";
      }
      default -> throw new UnsupportedOperationException(told.toString());
    };
  }
}
