package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A guard by a transcript's settings, and its server. */
final class Stage implements AutoCloseable {
  private final TestClock clock = new TestClock(Instant.EPOCH);
  private final HttpServletStatelessServerTransport transport =
      HttpServletStatelessServerTransport.builder()
          .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
          .build();
  private final ScriptedLedger ledger;
  private final Guard guard;
  private final SealwaxFilter filter;

  /** Who asks: the parts of a principal, null, or what throws. */
  private volatile Object who;

  private volatile Object method;

  /** The pages of the server's own list of tools, by their cursors. */
  private final Map<String, Object> tools;

  Stage(Map<String, Object> told) {
    Map<String, Object> settings = Values.object(told.get("settings"));
    clock.set(time(told.get("now")));
    tools = Values.object(settings.get("tools"));
    ledger =
        settings.get("ledger") instanceof String kind
            ? new ScriptedLedger(clock, kind, Values.object(settings.get("ledgerOptions")))
            : null;
    guard = guard(told, settings);
    Script script = new Script(guard, sessions(settings.get("sessions")), this::listed);
    filter = filter(Values.object(settings.get("transport")));
    if (told.get("system").equals("sdk")) {
      OfSdk.serve(guard, transport, script);
    } else {
      guard.protect(transport).setMcpHandler(new AnyMethod(script));
    }
  }

  static Duration seconds(Object value) {
    return Duration.ofSeconds(((Number) value).longValue());
  }

  private static Instant time(Object value) {
    return Instant.ofEpochSecond(((Number) value).longValue());
  }

  private Guard guard(Map<String, Object> told, Map<String, Object> settings) {
    KeyRing keys = KeyRing.parse((String) told.get("keys"));
    Codec codec = TestCodec.of(clock, Codec.builder((String) told.get("audience")).keys(keys));
    Guard.Builder builder =
        Guard.builder(codec)
            .onRefused(it -> Channel.say("reported", Map.of("code", it.code(), "kind", it.kind())))
            .onEvent(Stage::happened);
    if (Boolean.TRUE.equals(told.get("anonymous"))) {
      builder.anonymous();
    } else {
      builder.principal(context -> principal());
    }
    if (ledger != null) {
      builder.ledger(ledger, ledgerOptions(Values.object(settings.get("ledgerOptions"))));
    }
    if (settings.containsKey("requestStateTtl")) {
      builder.requestStateTtl(seconds(settings.get("requestStateTtl")));
    }
    Values.object(settings.get("only"))
        .forEach(
            (target, names) ->
                builder.only(target, Values.list(names).stream().map(String.class::cast).toList()));
    Values.object(settings.get("confirm"))
        .forEach((tool, how) -> confirm(builder, tool, Values.object(how)));
    if (settings.get("confirmDestructive") instanceof Map) {
      builder.previewDestructive();
    } else if (settings.containsKey("confirmDestructive")) {
      builder.confirmDestructive();
    }
    if (settings.containsKey("confirmTtl")) {
      builder.confirmTtl(seconds(settings.get("confirmTtl")));
    }
    return builder.build();
  }

  private static void confirm(Guard.Builder builder, String tool, Map<String, Object> how) {
    if (how.get("message") instanceof String message) {
      builder.confirm(tool, message);
      if ("preview".equals(how.get("fallback"))) {
        builder.preview(tool);
      }
      return;
    }
    builder.confirm(
        tool,
        arguments -> {
          Channel.say("asked", "confirm");
          if (how.get("words") == null) {
            throw new IllegalStateException("the question's function throws");
          }
          return (String) how.get("words");
        });
  }

  private LedgerOptions ledgerOptions(Map<String, Object> options) {
    Object tolerance = options.get("clockTolerance");
    Object age = options.get("acceptIssuedSince");
    return new LedgerOptions(
        null,
        tolerance == null ? null : seconds(tolerance),
        age == null ? null : clock.instant().minus(seconds(age)),
        options.containsKey("reusableRequestState"));
  }

  @SuppressWarnings("unchecked")
  private Sessions<Object> sessions(Object settings) {
    if (settings == null) {
      return null;
    }
    Map<String, Object> members = Values.object(settings);
    Sessions.Settings<?> wanted =
        members.containsKey("heldByServer")
            ? Sessions.Settings.heldByServer()
            : Sessions.Settings.of(
                Object.class,
                context -> {
                  Channel.say("asked", "begin");
                  return members.get("initial");
                });
    for (String name : List.of("ttl", "noExpiry", "required")) {
      if (members.containsKey(name)) {
        wanted.members.put(name, members.get(name));
      }
    }
    return (Sessions<Object>) guard.sessions(wanted);
  }

  private SealwaxFilter filter(Map<String, Object> settings) {
    SealwaxFilter.Builder builder = SealwaxFilter.builder(guard);
    if (Boolean.FALSE.equals(settings.get("required"))) {
      builder.optional();
    }
    if (settings.containsKey("ttl")) {
      builder.ttl(seconds(settings.get("ttl")));
    }
    if (settings.containsKey("idle")) {
      builder.idle(seconds(settings.get("idle")));
    }
    if (settings.containsKey("onLost")) {
      builder.serveLost();
    }
    if (settings.containsKey("sep1359")) {
      builder.sep1359();
    }
    return builder.build();
  }

  // What the guard asks and tells.

  private Principal principal() {
    Channel.say("asked", "principal");
    if (who instanceof String thrower) {
      throw new IllegalStateException(thrower);
    }
    return who == null ? null : principal(Values.object(who));
  }

  static Principal principal(Map<String, Object> parts) {
    return parts.containsKey("anonymous")
        ? Principal.anonymous()
        : Principal.of(
            (String) parts.get("issuer"),
            (String) parts.get("client"),
            (String) parts.get("subject"));
  }

  private static void happened(GuardEvent event) {
    Object age = event.age() == null ? null : event.age().toSeconds();
    Channel.say(
        "happened",
        Stream.of(event.event(), event.kind(), event.keyId(), age)
            .filter(one -> one != null)
            .map(Object::toString)
            .collect(Collectors.joining(" ")));
  }

  // What the driver asks.

  void at(Map<String, Object> told) {
    clock.set(time(told.get("now")));
    who = told.get("who");
    method = told.get("method");
    if (ledger != null) {
      ledger.before(told);
    }
  }

  /** Returns a page of the list, for which the guard asks; null if it is a client. */
  private Map<String, Object> listed(Object cursor) {
    if ("tools/list".equals(method)) {
      return null;
    }
    Object page = tools.get(cursor == null ? "" : cursor);
    if (page == null) {
      throw new McpError(new JSONRPCError(-32000, "there is no list"));
    }
    return Values.object(page);
  }

  boolean revoke(Map<String, Object> whom) {
    try {
      guard.revoke(principal(whom));
      return true;
    } catch (LedgerException e) {
      return false;
    }
  }

  /** Serves a request of HTTP: {@code /wrapped} through the filter, {@code /plain} without. */
  void serve(HttpServletRequest request, HttpServletResponse response)
      throws ServletException, IOException {
    HttpServletRequest toServer =
        new HttpServletRequestWrapper(request) {
          @Override
          public String getRequestURI() {
            return "/mcp";
          }
        };
    if (request.getRequestURI().equals("/wrapped")) {
      filter.doFilter(toServer, response, transport::service);
    } else {
      transport.service(toServer, response);
    }
  }

  @Override
  public void close() {
    if (ledger != null) {
      ledger.close();
    }
  }
}
