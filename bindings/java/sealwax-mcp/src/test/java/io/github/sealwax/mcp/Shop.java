package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.server.McpTransportContextExtractor;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;

/** One replica of a server of the SDK behind its guard: the user is whom the header says. */
final class Shop implements Container.Place {
  static final McpTransportContextExtractor<HttpServletRequest> WHO =
      request ->
          request.getHeader("X-User") == null
              ? McpTransportContext.EMPTY
              : McpTransportContext.create(Map.of("user", request.getHeader("X-User")));
  private static final TypeRef<List<String>> TEXTS = new TypeRef<>() {};
  private static final int PAGE = 2;

  final List<Refusal> refusals = new CopyOnWriteArrayList<>();
  final List<GuardEvent> events = new CopyOnWriteArrayList<>();
  final Guard guard;
  final ReferenceHandles rows;
  final SelfContainedHandles<List<String>> baskets;
  private final Sessions<Integer> counters;
  private final SealwaxFilter filter;
  private final HttpServletStatelessServerTransport servlet;

  Shop(
      Codec codec,
      UnaryOperator<Guard.Builder> more,
      UnaryOperator<SealwaxFilter.Builder> filtered) {
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
    counters = guard.sessions(Sessions.Settings.of(Integer.class, context -> 0));
    rows = guard.referenceHandles("row");
    baskets = guard.selfContainedHandles("basket", TEXTS);
    filter = filtered.apply(SealwaxFilter.builder(guard).contextExtractor(WHO)).build();
    servlet =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(WHO))
            .build();
    McpServer.sync(guard.protect(servlet, Pages::new))
        .serverInfo("shop", "1")
        // Cut in the middle of an emoji.
        .instructions("cut \ud83d")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .tools(
            tool("a", (context, call) -> text("a")),
            tool("b", (context, call) -> text("b")),
            tool("new", (context, call) -> text(baskets.seal(context, List.of()).handle())),
            tool("add", this::add),
            tool("mint", (context, call) -> text(rows.mint(context).handle())),
            tool(
                "row",
                (context, call) -> text(rows.check(context, call.arguments().get("row")).ulid())),
            tool("end", this::end),
            tool("who", (context, call) -> text(String.valueOf(guard.negotiated(context)))),
            tool("count", this::count))
        .build();
  }

  private CallToolResult add(McpTransportContext context, CallToolRequest call) {
    OpenedHandle<List<String>> before = baskets.open(context, call.arguments().get("basket"));
    List<String> items = new ArrayList<>(before.value());
    items.add((String) call.arguments().get("item"));
    String next = baskets.renew(context, before, items).handle();
    return CallToolResult.builder()
        .addTextContent(next)
        .structuredContent(Map.of("items", items))
        .build();
  }

  private CallToolResult end(McpTransportContext context, CallToolRequest call) {
    rows.end(context, call.arguments().get("row"));
    return text("ended");
  }

  private CallToolResult count(McpTransportContext context, CallToolRequest call) {
    Session<Integer> session = counters.of(context);
    int next = session.value() + 1;
    session.write(next);
    return text("" + next);
  }

  static CallToolResult text(String text) {
    return CallToolResult.builder().addTextContent(text).build();
  }

  private static SyncToolSpecification tool(
      String name, BiFunction<McpTransportContext, CallToolRequest, CallToolResult> handler) {
    return new SyncToolSpecification(Tool.builder(name, Map.of("type", "object")).build(), handler);
  }

  @Override
  public void serve(HttpServletRequest request, HttpServletResponse response)
      throws ServletException, IOException {
    filter.doFilter(request, response, servlet::service);
  }

  /** Lists in pages, which the SDK does not: the cursor is the start of the next one. */
  record Pages(McpStatelessServerHandler server) implements McpStatelessServerHandler {
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
