package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse.JSONRPCError;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
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
import reactor.core.publisher.Mono;

/** A guard by a transcript's settings, and its server. */
final class Stage implements AutoCloseable {
  private static final Map<String, Object> INITIALIZED =
      Map.of(
          "protocolVersion", "2025-11-25",
          "capabilities", Map.of(),
          "serverInfo", Map.of("name", "s", "version", "1"));

  private final TestClock clock = new TestClock(Instant.EPOCH);
  private final HttpServletStatelessServerTransport transport =
      HttpServletStatelessServerTransport.builder()
          .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
          .build();
  private final ScriptedLedger ledger;
  final Codec codec;
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
    KeyRing keys = KeyRing.parse((String) told.get("keys"));
    codec = TestCodec.of(clock, Codec.builder((String) told.get("audience")).keys(keys));
    guard = guard(told, settings);
    Script script = new Script(guard, sessions(settings.get("sessions")), this::listed);
    filter = filter(Values.object(settings.get("transport")));
    if (told.get("system").equals("sdk")) {
      OfSdk.serve(guard, transport, script);
    } else {
      guard
          .protect(transport)
          .setMcpHandler(
              new Direct.Answering(
                  (context, method, params) ->
                      Mono.fromCallable(() -> anyMethod(script, context, method, params))));
    }
  }

  /** In place of the SDK's server, which knows nothing of revision 2026-07-28. */
  private static Map<String, Object> anyMethod(
      Script script, McpTransportContext context, String method, Object params) {
    Map<String, Object> returned =
        method.equals("tools/list") ? script.list(context, params) : script.run(context, params);
    return method.equals("initialize") ? INITIALIZED : returned;
  }

  static Duration seconds(Object value) {
    return Duration.ofSeconds(((Number) value).longValue());
  }

  private static Instant time(Object value) {
    return Instant.ofEpochSecond(((Number) value).longValue());
  }

  private Guard guard(Map<String, Object> told, Map<String, Object> settings) {
    Guard.Builder builder =
        Guard.builder(codec)
            .onRefused(it -> Scenario.say("reported", Map.of("code", it.code(), "kind", it.kind())))
            .onEvent(Stage::happened);
    if (Boolean.TRUE.equals(told.get("anonymous"))) {
      builder.anonymous();
    } else {
      builder.principal(context -> principal());
    }
    if (ledger != null) {
      builder.ledger(ledger, ledgerOptions(Values.object(settings.get("ledgerOptions"))));
    }
    Values.with(
        settings, "requestStateTtl", builder, (it, ttl) -> it.requestStateTtl(seconds(ttl)));
    Values.with(settings, "confirmTtl", builder, (it, ttl) -> it.confirmTtl(seconds(ttl)));
    Values.object(settings.get("only"))
        .forEach((target, names) -> builder.only(target, texts(names)));
    Values.object(settings.get("confirm"))
        .forEach((tool, how) -> confirm(builder, tool, Values.object(how)));
    Values.with(
        settings,
        "confirmDestructive",
        builder,
        (it, how) -> how instanceof Map ? it.previewDestructive() : it.confirmDestructive());
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
          Scenario.say("asked", "confirm");
          if (how.get("words") == null) {
            throw new IllegalStateException("the question's function throws");
          }
          return (String) how.get("words");
        });
  }

  private LedgerOptions ledgerOptions(Map<String, Object> given) {
    LedgerOptions options = LedgerOptions.DEFAULT;
    options =
        Values.with(
            given, "clockTolerance", options, (it, by) -> it.withClockTolerance(seconds(by)));
    options =
        Values.with(
            given,
            "acceptIssuedSince",
            options,
            (it, age) -> it.withAcceptIssuedSince(clock.instant().minus(seconds(age))));
    return Values.with(
        given, "reusableRequestState", options, (it, is) -> it.withReusableRequestState());
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
                  Scenario.say("asked", "begin");
                  return members.get("initial");
                });
    Values.with(members, "ttl", wanted, (it, ttl) -> it.ttl(seconds(ttl)));
    Values.with(members, "noExpiry", wanted, (it, is) -> it.noExpiry());
    Values.with(members, "required", wanted, Stage::required);
    return (Sessions<Object>) guard.sessions(wanted);
  }

  private static Sessions.Settings<?> required(Sessions.Settings<?> wanted, Object by) {
    return by.equals(true)
        ? wanted.required()
        : wanted.required(
            texts(Values.object(by).get("methods")), texts(Values.object(by).get("tools")));
  }

  private static List<String> texts(Object array) {
    return Values.list(array).stream().map(String.class::cast).toList();
  }

  private SealwaxFilter filter(Map<String, Object> settings) {
    SealwaxFilter.Builder builder = SealwaxFilter.builder(guard);
    Values.with(settings, "required", builder, (it, is) -> is.equals(true) ? it : it.optional());
    Values.with(settings, "ttl", builder, (it, ttl) -> it.ttl(seconds(ttl)));
    Values.with(settings, "idle", builder, (it, idle) -> it.idle(seconds(idle)));
    Values.with(settings, "onLost", builder, (it, how) -> it.serveLost());
    Values.with(settings, "sep1359", builder, (it, is) -> it.sep1359());
    return builder.build();
  }

  // What the guard asks and tells.

  private Principal principal() {
    Scenario.say("asked", "principal");
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

  private static void happened(TokenEvent event) {
    Object age = event.age() == null ? null : event.age().toSeconds();
    Scenario.say(
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

  /**
   * Between the guard and the SDK's server: keeps what is delivered, which the SDK does not give to
   * a tool, and makes pages, which it does not make.
   */
  private record OfSdk(Script script, McpStatelessServerHandler server)
      implements McpStatelessServerHandler {
    private static final String PARAMS = "params";

    /** Serves a tool on a guarded transport. */
    static void serve(Guard guard, McpStatelessServerTransport transport, Script script) {
      Tool play = Tool.builder("play", Map.of("type", "object")).build();
      McpServer.sync(guard.protect(transport, server -> new OfSdk(script, server)))
          .serverInfo("play", "1")
          .capabilities(ServerCapabilities.builder().tools(false).build())
          .tools(
              new SyncToolSpecification(
                  play,
                  (context, call) ->
                      Json.MAPPER.convertValue(
                          script.run(context, context.get(PARAMS)), CallToolResult.class)))
          .build();
    }

    @Override
    public Mono<JSONRPCResponse> handleRequest(
        McpTransportContext context, JSONRPCRequest request) {
      if (request.method().equals("tools/list")) {
        return Mono.fromCallable(
            () -> JSONRPCResponse.result(request.id(), script.list(context, request.params())));
      }
      return server.handleRequest(
          key -> key.equals(PARAMS) ? request.params() : context.get(key), request);
    }

    @Override
    public Mono<Void> handleNotification(
        McpTransportContext context, JSONRPCNotification notification) {
      return server.handleNotification(context, notification);
    }
  }
}
