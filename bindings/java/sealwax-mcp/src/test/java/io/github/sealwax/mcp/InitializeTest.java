package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever a client declares and a server says of itself, there is a session, or why there is not.
 */
class InitializeTest {
  private final Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com");
  private final List<Refusal> refusals = new ArrayList<>();
  private final List<Negotiated> negotiated = new ArrayList<>();
  private final Guard guard = Guard.builder(codec).anonymous().onRefused(refusals::add).build();
  private String instructions = "short";

  private interface Body {
    void run(int port) throws IOException, InterruptedException;
  }

  private void serving(boolean isRequired, Body body) throws IOException, InterruptedException {
    HttpServletStatelessServerTransport servlet =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
            .build();
    Tool tool = Tool.builder("look", Map.of("type", "object")).build();
    McpServer.sync(guard.protect(servlet))
        .serverInfo("s", "1")
        .instructions(instructions)
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .tools(
            new McpStatelessServerFeatures.SyncToolSpecification(
                tool,
                (context, request) -> {
                  negotiated.add(guard.negotiated(context));
                  return CallToolResult.builder().addTextContent("seen").build();
                }))
        .build();
    SealwaxFilter.Builder settings = SealwaxFilter.builder(guard);
    SealwaxFilter filter = (isRequired ? settings : settings.optional()).build();
    try (Container container = new Container()) {
      container.place = (request, response) -> filter.doFilter(request, response, servlet::service);
      body.run(container.port());
    }
  }

  private static HttpResponse<String> post(int port, String message, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/mcp"))
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(message));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String initialize(String experimental) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
        + "\"capabilities\":{\"roots\":{},\"experimental\":{\"x\":{\"y\":"
        + experimental
        + "}}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
  }

  private static final String CALL =
      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"look\",\"arguments\":{}}}";

  private void hasASession(int port, String experimental) throws IOException, InterruptedException {
    HttpResponse<String> begun = post(port, initialize(experimental));
    assertEquals(200, begun.statusCode(), begun::body);
    String id = begun.headers().firstValue("Mcp-Session-Id").orElseThrow();
    negotiated.clear();
    HttpResponse<String> called =
        post(port, CALL, "Mcp-Session-Id", id, "MCP-Protocol-Version", "2025-11-25");
    assertTrue(called.body().contains("seen"), called::body);
    assertNotNull(negotiated.get(0).clientCapabilities().get("roots"));
    assertEquals(List.of(), refusals);
  }

  static List<String> declared() {
    return List.of("1", "\"\\ud800\"", "1e400", "[".repeat(123) + "]".repeat(123));
  }

  @ParameterizedTest
  @MethodSource("declared")
  void whatAClientDeclaresIsKept(String experimental) throws Exception {
    serving(true, port -> hasASession(port, experimental));
  }

  @Test
  void instructionsThatWereCutInAnEmoji() throws Exception {
    instructions = "cut \ud83d";
    serving(true, port -> hasASession(port, "1"));
  }

  @Test
  void whoDeclaresTooMuchForASessionIsServedWithoutWhereNoneIsRequired() throws Exception {
    serving(
        false,
        port -> {
          HttpResponse<String> begun = post(port, initialize("\"" + "x".repeat(3 << 10) + "\""));
          assertEquals(200, begun.statusCode(), begun::body);
          assertTrue(begun.headers().firstValue("Mcp-Session-Id").isEmpty());
          assertEquals("too_large", refusals.get(0).code());
          assertTrue(post(port, CALL).body().contains("seen"));
        });
  }
}
