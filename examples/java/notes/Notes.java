package notes;

import common.Http;
import io.github.sealwax.Codec;
import io.github.sealwax.mcp.Guard;
import io.github.sealwax.mcp.OpenedHandle;
import io.github.sealwax.mcp.SealwaxFilter;
import io.github.sealwax.mcp.SelfContainedHandle;
import io.github.sealwax.mcp.SelfContainedHandles;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceResult;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.apache.catalina.LifecycleException;

/**
 * A small MCP server whose tokens are sealed: a basket, a list in pages. With PORT it serves HTTP, else stdio.
 *
 * <p>With NOTES_JWT_SECRET, HTTP asks for a bearer token: a JWT, signed with HS256, of iss, sub, client_id, exp, and aud:
 * AUDIENCE. With SEALWAX_LEDGER, the URL of a Redis or Valkey that all replicas share, what ended has ended at all.
 */
public final class Notes {
  private static final String AUDIENCE = "https://notes.example.com";
  private static final int NOTES = 25;
  private static final TypeRef<List<String>> ITEMS = new TypeRef<>() {};

  private final Guard guard =
      Http.configured(Guard.builder(Codec.fromEnv(AUDIENCE))).build();
  private final SelfContainedHandles<List<String>> baskets =
      guard.selfContainedHandles("basket", ITEMS).ttl(Duration.ofHours(1));

  /** What a tool does, over HTTP and on stdio. */
  private interface Handler extends BiFunction<McpTransportContext, CallToolRequest, CallToolResult> {}

  private final Map<Tool, Handler> tools = new LinkedHashMap<>();

  private Notes() {
    Map<String, Object> text = Map.of("type", "string");
    tools.put(
        Tool.builder("new_basket", Map.of("type", "object"))
            .description("Make a basket. Pass its text to add_to_basket, exactly as it is.")
            .build(),
        (context, call) -> shown(baskets.seal(context, List.of()), List.of()));
    tools.put(
        Tool.builder(
                "add_to_basket",
                Map.of(
                    "type", "object",
                    "properties", Map.of("basket", text, "item", text),
                    "required", List.of("basket", "item")))
            .description("Add an item to a basket. Use the basket that is returned from then on.")
            .build(),
        this::addToBasket);
  }

  private CallToolResult addToBasket(McpTransportContext context, CallToolRequest call) {
    OpenedHandle<List<String>> before = baskets.open(context, call.arguments().get("basket"));
    List<String> items = new ArrayList<>(before.value());
    items.add((String) call.arguments().get("item"));
    return shown(baskets.renew(context, before, items), items);
  }

  private static CallToolResult shown(SelfContainedHandle basket, List<String> items) {
    Map<String, Object> told = new LinkedHashMap<>();
    told.put("basket", basket.handle());
    told.put("expiresAt", String.valueOf(basket.expiresAt()));
    told.put("items", items);
    return CallToolResult.builder().addTextContent(json(told)).structuredContent(told).build();
  }

  private static String json(Object value) {
    try {
      return McpJsonDefaults.getMapper().writeValueAsString(value);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Resource note(int number) {
    return Resource.builder("note:///" + number, "Note " + number).mimeType("text/plain").build();
  }

  private static ReadResourceResult read(Resource note) {
    String text = "This is %s.".formatted(note.name().replace("N", "n"));
    return ReadResourceResult.builder(List.of(TextResourceContents.builder(note.uri(), text).mimeType("text/plain").build())).build();
  }

  private static List<Resource> notes() {
    return IntStream.rangeClosed(1, NOTES).mapToObj(Notes::note).toList();
  }

  private static ServerCapabilities capabilities() {
    return ServerCapabilities.builder().tools(false).resources(false, false).build();
  }

  private void overHttp() throws IOException, LifecycleException {
    HttpServletStatelessServerTransport transport =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(Http.USER))
            .httpHeaderValidator(Http.LOCAL)
            .build();
    McpServer.sync(guard.protect(transport, Pages::new))
        .serverInfo("notes", "1")
        .capabilities(capabilities())
        .tools(
            tools.entrySet().stream()
                .map(tool -> new McpStatelessServerFeatures.SyncToolSpecification(tool.getKey(), tool.getValue()))
                .toList())
        .resources(
            notes().stream()
                .map(note -> new McpStatelessServerFeatures.SyncResourceSpecification(note, (context, request) -> read(note)))
                .toList())
        .build();
    Http.serve(transport, AUDIENCE);
  }

  private void onStdio() {
    McpServer.sync(guard.protect(new StdioServerTransportProvider(McpJsonDefaults.getMapper()), Pages::new))
        .serverInfo("notes", "1")
        .capabilities(capabilities())
        .tools(
            tools.entrySet().stream()
                .map(
                    tool ->
                        new McpServerFeatures.SyncToolSpecification(
                            tool.getKey(),
                            (exchange, call) -> tool.getValue().apply(exchange.transportContext(), call)))
                .toList())
        .resources(
            notes().stream()
                .map(note -> new McpServerFeatures.SyncResourceSpecification(note, (exchange, request) -> read(note)))
                .toList())
        .build();
  }

  /** Serves. */
  public static void main(String[] arguments) throws IOException, LifecycleException {
    Notes notes = new Notes();
    if (Http.isWanted()) {
      notes.overHttp();
    } else {
      notes.onStdio();
    }
  }
}
