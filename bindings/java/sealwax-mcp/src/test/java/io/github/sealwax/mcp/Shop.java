package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.github.sealwax.mcp.internal.Json;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.server.McpSyncServer;
import io.modelcontextprotocol.server.McpTransportContextExtractor;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.CreateMessageRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import io.modelcontextprotocol.spec.McpSchema.ToolAnnotations;
import io.modelcontextprotocol.spec.McpServerTransportProvider;
import jakarta.servlet.http.HttpServletRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/** One replica of a shop behind its guard, on a server of the SDK. */
final class Shop {
  private static final McpTransportContextExtractor<HttpServletRequest> WHO =
      request ->
          request.getHeader("X-User") == null
              ? McpTransportContext.EMPTY
              : McpTransportContext.create(Map.of("user", request.getHeader("X-User")));
  private static final ServerCapabilities TOOLS = ServerCapabilities.builder().tools(false).build();
  private static final int PAGE = 2;

  final List<Refusal> refusals = new CopyOnWriteArrayList<>();
  final List<TokenEvent> events = new CopyOnWriteArrayList<>();

  /** The tools that ran. */
  final List<String> ran = new CopyOnWriteArrayList<>();

  final Guard guard;
  private final Map<String, Handler> tools = new LinkedHashMap<>();

  private interface Handler {
    String handle(McpTransportContext context, Map<String, Object> given);
  }

  /** Its user is whom the header says, unless the builder is told otherwise. */
  Shop(Codec codec, UnaryOperator<Guard.Builder> more) {
    Guard.Builder builder =
        Guard.builder(codec)
            .principal(
                context ->
                    context.get("user") instanceof String user
                        ? Principal.of("https://idp.example.com", "cli-7", user)
                        : null)
            .onRefused(refusals::add)
            .onEvent(events::add);
    guard = more.apply(builder).build();
    Sessions<Integer> counters = guard.sessions(Sessions.Settings.of(Integer.class, context -> 0));
    ReferenceHandles rows = guard.referenceHandles("row");
    SelfContainedHandles<List<String>> baskets =
        guard.selfContainedHandles("basket", new TypeRef<>() {});
    tools.put("read", (context, given) -> "read");
    tools.put("delete", (context, given) -> "deleted");
    tools.put("move", (context, given) -> "moved");
    tools.put("new", (context, given) -> baskets.seal(context, List.of()).handle());
    tools.put("open", (context, given) -> "" + baskets.open(context, given.get("basket")).value());
    tools.put(
        "add",
        (context, given) -> {
          OpenedHandle<List<String>> before = baskets.open(context, given.get("basket"));
          List<String> items = new ArrayList<>(before.value());
          items.add((String) given.get("item"));
          return baskets.renew(context, before, items).handle();
        });
    tools.put("mint", (context, given) -> rows.mint(context).handle());
    tools.put("row", (context, given) -> rows.check(context, given.get("row")).ulid());
    tools.put(
        "end",
        (context, given) -> {
          rows.end(context, given.get("row"));
          return "ended";
        });
    tools.put("who", (context, given) -> "" + guard.negotiated(context));
    tools.put(
        "count",
        (context, given) -> {
          Session<Integer> session = counters.of(context);
          session.write(session.value() + 1);
          return "" + session.value();
        });
  }

  private static Tool tool(String name) {
    boolean isReading = !List.of("delete", "move").contains(name);
    return Tool.builder(name, Map.of("type", "object"))
        .annotations(new ToolAnnotations(null, isReading, null, null, null, null))
        .build();
  }

  private CallToolResult run(String name, McpTransportContext context, Map<String, Object> given) {
    ran.add(name + given);
    return text(tools.get(name).handle(context, given));
  }

  private static CallToolResult text(String text) {
    return CallToolResult.builder().addTextContent(text).build();
  }

  /** Serves over HTTP, by the SDK's server without sessions. */
  Container.Place onHttp() {
    var servlet =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(WHO))
            .build();
    var server =
        McpServer.sync(guard.protect(servlet, Pages::new))
            .serverInfo("shop", "1")
            // Cut in the middle of an emoji.
            .instructions("cut \ud83d")
            .capabilities(TOOLS);
    for (String name : tools.keySet()) {
      server.toolCall(tool(name), (context, call) -> run(name, context, call.arguments()));
    }
    server.build();
    SealwaxFilter filter = SealwaxFilter.builder(guard).contextExtractor(WHO).build();
    return (request, response) -> filter.doFilter(request, response, servlet::service);
  }

  /** Serves connections, of which one tool asks the client. */
  McpSyncServer on(McpServerTransportProvider connections) {
    var server =
        McpServer.sync(guard.protect(connections, Pages::new))
            .serverInfo("shop", "1")
            .capabilities(TOOLS);
    for (String name : tools.keySet()) {
      server.toolCall(
          tool(name), (exchange, call) -> run(name, exchange.transportContext(), call.arguments()));
    }
    CreateMessageRequest question = CreateMessageRequest.builder(List.of(), 1).build();
    server.toolCall(
        tool("ask"), (exchange, call) -> text(exchange.createMessage(question).model()));
    return server.build();
  }

  /** Lists in pages, which the SDK does not: the cursor is the start of the next one. */
  private record Pages(McpStatelessServerHandler server) implements McpStatelessServerHandler {
    @Override
    public Mono<JSONRPCResponse> handleRequest(
        McpTransportContext context, JSONRPCRequest request) {
      return server
          .handleRequest(context, request)
          .map(
              response ->
                  request.method().equals("tools/list") ? page(request, response) : response);
    }

    @Override
    public Mono<Void> handleNotification(
        McpTransportContext context, JSONRPCNotification notification) {
      return server.handleNotification(context, notification);
    }

    private static JSONRPCResponse page(JSONRPCRequest request, JSONRPCResponse response) {
      Map<String, Object> params = Json.members(request.params());
      Map<String, Object> result = Json.members(response.result());
      Object cursor = params == null ? null : params.get("cursor");
      int start = cursor == null ? 0 : Integer.parseInt((String) cursor);
      List<Object> all = Values.list(result.get("tools"));
      result.put("tools", all.subList(start, Math.min(start + PAGE, all.size())));
      if (start + PAGE < all.size()) {
        result.put("nextCursor", "" + (start + PAGE));
      }
      return JSONRPCResponse.result(response.id(), result);
    }
  }
}
