import io.github.sealwax.Codec;
import io.github.sealwax.mcp.Guard;
import io.github.sealwax.mcp.OpenedHandle;
import io.github.sealwax.mcp.SealwaxFilter;
import io.github.sealwax.mcp.SelfContainedHandles;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.server.transport.ServerTransportSecurityException;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;

public class Server {
  public static void main(String[] arguments) throws Exception {
    Guard guard = Guard.builder(Codec.fromEnv("https://shop.example.com")).anonymous().build();
    SelfContainedHandles<List<String>> baskets =
        guard.selfContainedHandles("basket", new TypeRef<List<String>>() {});

    HttpServletStatelessServerTransport transport =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
            // Refuses what a website sends here by a name of its own (DNS rebinding).
            .httpHeaderValidator(
                headers -> {
                  if (!headers.getHeader("Host").stream().allMatch(host -> host.startsWith("localhost:"))) {
                    throw new ServerTransportSecurityException(421, "Misdirected Request");
                  }
                })
            .build();
    McpServer.sync(guard.protect(transport))
        .serverInfo("shop", "1.0")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .toolCall(
            Tool.builder("new_basket", Map.of("type", "object")).build(),
            (context, call) ->
                CallToolResult.builder().addTextContent(baskets.seal(context, List.of()).handle()).build())
        .toolCall(
            Tool.builder("add", Map.of("type", "object", "required", List.of("basket", "item"))).build(),
            (context, call) -> {
              // Ours, for this user, and not expired; else the tool's result tells the model to make a new one.
              OpenedHandle<List<String>> basket = baskets.open(context, call.arguments().get("basket"));
              List<String> items = new ArrayList<>(basket.value());
              items.add(String.valueOf(call.arguments().get("item")));
              return CallToolResult.builder()
                  .addTextContent(baskets.renew(context, basket, items).handle())
                  .addTextContent(items + " are in the basket")
                  .build();
            })
        .build();

    Tomcat tomcat = new Tomcat();
    tomcat.setPort(Integer.parseInt(System.getenv().getOrDefault("PORT", "8080")));
    // Nobody signs in here. Without this, Tomcat listens on every address of the machine.
    tomcat.getConnector().setProperty("address", "127.0.0.1");
    Context root = tomcat.addContext("", null);
    Tomcat.addServlet(root, "mcp", transport).addMapping("/mcp");
    FilterDef sessions = new FilterDef();
    sessions.setFilterName("sessions");
    sessions.setFilter(SealwaxFilter.builder(guard).build());
    root.addFilterDef(sessions);
    FilterMap map = new FilterMap();
    map.setFilterName("sessions");
    map.addURLPattern("/mcp");
    root.addFilterMap(map);
    tomcat.start();
    System.err.println("listening on port " + tomcat.getConnector().getLocalPort());
    tomcat.getServer().await();
  }
}
