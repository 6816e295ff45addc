package sessions;

import com.fasterxml.jackson.annotation.JsonInclude;
import common.Http;
import io.github.sealwax.Codec;
import io.github.sealwax.mcp.Guard;
import io.github.sealwax.mcp.SealwaxFilter;
import io.github.sealwax.mcp.Session;
import io.github.sealwax.mcp.Sessions;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpServerFeatures;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.apache.catalina.LifecycleException;

/**
 * A small MCP server with sessions: a counter, and a text that is written in a transaction. With PORT it serves HTTP, else
 * stdio.
 *
 * <p>The server stores nothing: the client keeps each session, sealed, and sends it with its requests. With
 * SEALWAX_LEDGER, the URL of a Redis or Valkey that all replicas share, sessions can be deleted, and of two concurrent
 * calls one counts: the other is told that its state is not the latest. With NOTES_JWT_SECRET, HTTP asks for a bearer
 * token: a JWT, signed with HS256, of iss, sub, client_id, exp, and aud: AUDIENCE.
 */
public final class Counter {
  private static final String AUDIENCE = "https://counter.example.com";
  private static final List<String> TOOLS = List.of("count", "begin", "read", "write", "end");

  /** The value of a session; the draft is there in a transaction. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Value(int count, String draft) {}

  private final Guard guard =
      Http.configured(Guard.builder(Codec.fromEnv(AUDIENCE))).build();
  private final Sessions<Value> sessions =
      guard.sessions(
          Sessions.Settings.of(Value.class, context -> new Value(0, null)).required(List.of(), TOOLS));

  /** What a tool does with the session of its call. */
  private interface Handler extends BiFunction<Session<Value>, CallToolRequest, CallToolResult> {}

  private final Map<Tool, Handler> tools = new LinkedHashMap<>();

  private Counter() {
    add("count", "Return one more than last time in this session.", (session, call) -> {
      Value next = new Value(session.value().count() + 1, session.value().draft());
      session.write(next);
      return told(Integer.toString(next.count()));
    });
    add("begin", "Begin a transaction, with an empty text.", (session, call) -> {
      session.write(new Value(session.value().count(), ""));
      return told("begun");
    });
    add("read", "Return the text so far.", inTransaction((session, call) -> told(session.value().draft())));
    add("write", "Add to the text.", inTransaction((session, call) -> {
      Value value = session.value();
      session.write(new Value(value.count(), value.draft() + call.arguments().get("text")));
      return told("written");
    }));
    add("end", "End the transaction, and return its text.", inTransaction((session, call) -> {
      Value value = session.value();
      session.write(new Value(value.count(), null));
      return told(value.draft());
    }));
  }

  private void add(String name, String description, Handler handler) {
    Map<String, Object> schema =
        name.equals("write")
            ? Map.of(
                "type", "object",
                "properties", Map.of("text", Map.of("type", "string")),
                "required", List.of("text"))
            : Map.of("type", "object");
    tools.put(Tool.builder(name, schema).description(description).build(), handler);
  }

  private static Handler inTransaction(Handler handler) {
    return (session, call) ->
        session.value().draft() == null
            ? CallToolResult.builder().addTextContent("no transaction: begin one").isError(true).build()
            : handler.apply(session, call);
  }

  private static CallToolResult told(String text) {
    return CallToolResult.builder().addTextContent(text).build();
  }

  /** Returns the session of a call, and logs it; every tool requires one. */
  private Session<Value> sessionOf(McpTransportContext context, Tool tool) {
    Session<Value> session = sessions.of(context);
    // The ulid may be logged: unlike the session id, it gives no access.
    System.err.printf("%s: session %s, generation %d%n", tool.name(), session.ulid(), session.generation());
    return session;
  }

  private void overHttp() throws IOException, LifecycleException {
    HttpServletStatelessServerTransport transport =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(Http.USER))
            .httpHeaderValidator(Http.LOCAL)
            .build();
    McpServer.sync(guard.protect(transport))
        .serverInfo("counter", "1")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .tools(
            tools.entrySet().stream()
                .map(
                    tool ->
                        new McpStatelessServerFeatures.SyncToolSpecification(
                            tool.getKey(),
                            (context, call) -> tool.getValue().apply(sessionOf(context, tool.getKey()), call)))
                .toList())
        .build();
    // Clients of older revisions get an Mcp-Session-Id, which any replica takes.
    Http.serve(transport, AUDIENCE, SealwaxFilter.builder(guard).contextExtractor(Http.USER).build());
  }

  private void onStdio() {
    McpServer.sync(guard.protect(new StdioServerTransportProvider(McpJsonDefaults.getMapper())))
        .serverInfo("counter", "1")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .tools(
            tools.entrySet().stream()
                .map(
                    tool ->
                        new McpServerFeatures.SyncToolSpecification(
                            tool.getKey(),
                            (exchange, call) ->
                                tool.getValue().apply(sessionOf(exchange.transportContext(), tool.getKey()), call)))
                .toList())
        .build();
  }

  /** Serves. */
  public static void main(String[] arguments) throws IOException, LifecycleException {
    Counter counter = new Counter();
    if (Http.isWanted()) {
      counter.overHttp();
    } else {
      counter.onStdio();
    }
  }
}
