package io.github.sealwax.mcp;

import io.github.sealwax.Principal;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Mono;

/**
 * A server with the settings of one transcript. A {@code request} is given to the guard's handler,
 * or to the SDK's servlet in Tomcat; what comes by {@code http} goes through the filter in front of
 * that.
 */
final class Playing implements Accept, AutoCloseable {
  private static final String MODERN = "2026-07-28";
  private static final String LEGACY = "2025-11-25";
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final World world = new World();
  private final Matching matching = new Matching(world);
  private final Object accepts;
  private final Set<String> gone = new HashSet<>();
  private final boolean isAnonymous;
  private final ScriptedLedger ledger;
  private final Guard guard;
  private final SealwaxFilter filter;
  private final HttpServletStatelessServerTransport servlet;
  private final Script script;
  private McpStatelessServerHandler handler;
  private volatile Found found;
  private final int port;
  private final boolean isOverHttp;

  /** Serves on a guarded transport. */
  interface Server {
    void serve(Playing playing, Guard guard, McpStatelessServerTransport transport);
  }

  Playing(Map<String, Object> transcript, int port, boolean isOverHttp, Server server) {
    this.port = port;
    this.isOverHttp = isOverHttp;
    Map<String, Object> settings = World.object(transcript.get("settings"));
    accepts = settings.get("accept");
    isAnonymous =
        World.list(transcript.get("events")).stream()
            .allMatch(event -> "anonymous".equals(World.object(event).get("as")));
    ledger =
        settings.get("ledger") == null ? null : new ScriptedLedger(world, () -> found, settings);
    guard = guard(settings);
    Sessions<Object> sessions =
        sessions(World.object(settings.get("sessions")), settings.containsKey("sessions"));
    script = new Script(world, guard, sessions);
    filter = filter(World.object(settings.get("transport")));
    servlet =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
            .build();
    server.serve(this, guard, new Both());
  }

  /** The SDK's transport of HTTP, whose handler is called directly too. */
  private final class Both implements McpStatelessServerTransport {
    @Override
    public void setMcpHandler(McpStatelessServerHandler guarded) {
      handler = guarded;
      servlet.setMcpHandler(guarded);
    }

    @Override
    public Mono<Void> closeGracefully() {
      return Mono.empty();
    }
  }

  private Guard guard(Map<String, Object> settings) {
    Guard.Builder builder =
        Guard.builder(world.codec(Map.of("key", "both")))
            .onRefused(
                refusal ->
                    found.reported.add(Map.of("code", refusal.code(), "kind", refusal.kind())))
            .onEvent(this::happened);
    if (isAnonymous) {
      builder.anonymous();
    } else {
      builder.principal(this::principal);
    }
    if (accepts != null) {
      builder.accept(this);
    }
    if (ledger != null) {
      builder.ledger(ledger, ledgerOptions(World.object(settings.get("ledgerOptions"))));
    }
    if (settings.containsKey("requestStateTtl")) {
      builder.requestStateTtl(Duration.ofSeconds(World.number(settings.get("requestStateTtl"), 0)));
    }
    World.object(settings.get("only"))
        .forEach(
            (target, names) ->
                builder.only(target, World.list(names).stream().map(String.class::cast).toList()));
    return builder.build();
  }

  private LedgerOptions ledgerOptions(Map<String, Object> options) {
    Object tolerance = options.get("clockTolerance");
    Object age = options.get("acceptIssuedSince");
    return new LedgerOptions(
        null,
        tolerance == null ? null : Duration.ofSeconds(World.number(tolerance, 0)),
        age == null ? null : java.time.Instant.ofEpochSecond(world.now - World.number(age, 0)),
        Boolean.TRUE.equals(options.get("reusableRequestState")));
  }

  @SuppressWarnings("unchecked")
  private Sessions<Object> sessions(Map<String, Object> settings, boolean has) {
    if (!has) {
      return null;
    }
    Sessions.Settings<?> wanted =
        Boolean.TRUE.equals(settings.get("heldByServer"))
            ? Sessions.Settings.heldByServer()
            : Sessions.Settings.of(
                Object.class,
                context -> {
                  found.asked.add("begin");
                  return settings.get("initial");
                });
    for (String name : List.of("ttl", "noExpiry", "required")) {
      if (settings.containsKey(name)) {
        wanted.members.put(name, settings.get(name));
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
      builder.ttl(Duration.ofSeconds(World.number(settings.get("ttl"), 0)));
    }
    if (settings.containsKey("idle")) {
      builder.idle(Duration.ofSeconds(World.number(settings.get("idle"), 0)));
    }
    if (Boolean.TRUE.equals(settings.get("sep1359"))) {
      builder.sep1359();
    }
    return builder.build();
  }

  // What the guard asks.

  private Principal principal(McpTransportContext context) {
    found.asked.add("principal");
    String who = (String) found.event.get("as");
    if (who.equals("thrower")) {
      throw new IllegalStateException(who);
    }
    return World.principal(who);
  }

  private void happened(GuardEvent event) {
    String text = event.event() + " " + event.kind();
    text += event.keyId() == null ? "" : " " + event.keyId();
    text += event.age() == null ? "" : " " + event.age().toSeconds();
    found.happened.add(text);
  }

  @Override
  public CompletionStage<Boolean> accept(Presented presented) {
    found.asked.add("accept " + presented.kind());
    found.anybodys.add(presented.principal() == null && !isAnonymous);
    if ("fails".equals(accepts)) {
      return CompletableFuture.failedFuture(new IOException("accept"));
    }
    boolean first = !gone.contains(presented.kind() + presented.id());
    if (presented.kind().equals("request-state")) {
      gone.add(presented.kind() + presented.id());
    }
    return CompletableFuture.completedFuture(
        !"no".equals(accepts) && ("yes".equals(accepts) || first));
  }

  @Override
  public CompletionStage<Void> ended(Presented presented) {
    found.asked.add("end " + presented.kind());
    if ("fails".equals(accepts)) {
      return CompletableFuture.failedFuture(new IOException("ended"));
    }
    gone.add(presented.kind() + presented.id());
    return CompletableFuture.completedFuture(null);
  }

  // What a server does.

  /** Serves a request of HTTP: {@code /mcp} through the filter, {@code /plain/mcp} without. */
  void serve(HttpServletRequest request, HttpServletResponse response)
      throws ServletException, IOException {
    if (request.getRequestURI().startsWith("/plain")) {
      servlet.service(request, response);
    } else {
      filter.doFilter(request, response, servlet::service);
    }
  }

  /** Records what a handler is given. */
  void seen(McpTransportContext context, String method, Object params) {
    script.seen(found, context, method, params);
  }

  /** Runs the script of the present event. */
  Map<String, Object> run(McpTransportContext context) {
    Found mine = found;
    return script.run(mine, context, () -> play(World.list(mine.event.get("during"))));
  }

  // What a client does.

  /** Plays events, each held to what it says. */
  void play(List<Object> events) {
    for (Object one : events) {
      Map<String, Object> event = World.object(one);
      Found outer = found;
      try {
        matching.compare(event, play(event));
      } finally {
        found = outer;
      }
    }
  }

  private Found play(Map<String, Object> event) {
    world.pass(World.number(event.get("after"), 0));
    if (ledger != null) {
      ledger.before(event);
    }
    Map<String, Object> message = World.object(world.resolved(event.get("message")));
    Found playing = new Found(event, message);
    found = playing;
    boolean isAnswer = message.containsKey("result");
    if (!message.isEmpty() && !isAnswer && !Boolean.TRUE.equals(event.get("notification"))) {
      message.putIfAbsent("id", 1);
    }
    playing.answered =
        switch ((String) event.get("via")) {
          case "operator" -> revoked((String) event.get("revoke"));
          case "http" -> overHttp("/mcp", event, message);
          default ->
              isOverHttp || event.containsKey("header")
                  ? World.answer(overHttp("/plain/mcp", event, message).get("message"))
                  : atTheHandlers(event, message);
        };
    String method = (String) message.getOrDefault("method", "");
    boolean isBuiltin = method.equals("sessions/create") || method.equals("sessions/delete");
    if (isBuiltin && playing.answered.containsKey("result")) {
      // The guard answers these by itself.
      playing.delivered = Map.of();
    }
    return playing;
  }

  private Map<String, Object> revoked(String who) {
    try {
      guard.revoke(World.principal(who));
      return Map.of("done", true);
    } catch (LedgerException e) {
      return Map.of("done", false);
    }
  }

  private static Map<String, Object> framed(
      Map<String, Object> event, Map<String, Object> message) {
    Map<String, Object> framed = new LinkedHashMap<>(message);
    framed.put("jsonrpc", "2.0");
    if ("modern".equals(event.get("era"))) {
      Map<String, Object> params = new LinkedHashMap<>(World.object(message.get("params")));
      Map<String, Object> meta = new LinkedHashMap<>(World.object(params.get("_meta")));
      meta.put("io.modelcontextprotocol/protocolVersion", MODERN);
      params.put("_meta", meta);
      framed.put("params", params);
    }
    return framed;
  }

  private Map<String, Object> atTheHandlers(
      Map<String, Object> event, Map<String, Object> message) {
    Map<String, Object> framed = framed(event, message);
    String method = (String) framed.get("method");
    if (!framed.containsKey("id")) {
      JSONRPCNotification notification = new JSONRPCNotification(method, framed.get("params"));
      handler.handleNotification(McpTransportContext.EMPTY, notification).block();
      return null;
    }
    JSONRPCRequest request = new JSONRPCRequest(method, framed.get("id"), framed.get("params"));
    JSONRPCResponse response = handler.handleRequest(McpTransportContext.EMPTY, request).block();
    return told(Json.object(Json.write(response)));
  }

  private Map<String, Object> overHttp(
      String path, Map<String, Object> event, Map<String, Object> message) {
    boolean isModern = "modern".equals(event.get("era"));
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json");
    World.object(world.resolved(event.get("headers")))
        .forEach(
            (name, value) ->
                World.list(value instanceof List ? value : List.of(value))
                    .forEach(one -> request.header(name, (String) one)));
    if (event.containsKey("header")) {
      request.header("Mcp-Session-Id", (String) world.resolved(event.get("header")));
      request.header("MCP-Protocol-Version", isModern ? MODERN : LEGACY);
    }
    String body = message.isEmpty() ? "" : Json.write(framed(event, message));
    request.method(
        (String) event.getOrDefault("http", "POST"), HttpRequest.BodyPublishers.ofString(body));
    try {
      HttpResponse<String> response =
          CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
      Map<String, Object> answered = new HashMap<>();
      answered.put("status", response.statusCode());
      Map<String, Object> headers = new HashMap<>();
      response
          .headers()
          .map()
          .forEach(
              (name, values) ->
                  headers.put(name.toLowerCase(java.util.Locale.ROOT), values.get(0)));
      answered.put("headers", headers);
      if (response.headers().firstValue("content-type").orElse("").startsWith("application/json")) {
        answered.put("message", told(Json.object(response.body())));
      }
      return answered;
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Map<String, Object> told(Map<String, Object> message) {
    message.keySet().retainAll(Set.of("result", "error"));
    return message;
  }

  @Override
  public void close() {
    if (ledger != null) {
      ledger.close();
    }
  }
}
