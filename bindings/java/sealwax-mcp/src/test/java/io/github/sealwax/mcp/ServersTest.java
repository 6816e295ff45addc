package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ListToolsResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two replicas in Tomcat on one Valkey: each request of the SDK's own client goes to the other. */
class ServersTest {
  private final Valkey valkey = new Valkey();
  private final RedisLedger ledger = new RedisLedger(valkey.url());
  private final Container container = new Container();
  private final Key key = Key.generate();
  private final List<Shop> shops = List.of(shop(), shop());
  private final List<String> ids = new CopyOnWriteArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  ServersTest() {
    List<Container.Place> replicas = shops.stream().map(Shop::onHttp).toList();
    container.place =
        (request, response) -> {
          if (request.getHeader("Mcp-Session-Id") != null) {
            ids.add(request.getHeader("Mcp-Session-Id"));
          }
          replicas.get(next.getAndIncrement() % 2).serve(request, response);
        };
  }

  private Shop shop() {
    LedgerOptions anyAge = LedgerOptions.DEFAULT.withAcceptIssuedSince(Instant.ofEpochSecond(1));
    return new Shop(
        Codec.of(KeyRing.of(key), "https://mcp.example.com"),
        // This is not about time, and the machine may be busy.
        builder -> builder.ledger(ledger, anyAge).timeLimit(Duration.ofSeconds(60)));
  }

  @AfterEach
  void stop() {
    container.close();
    ledger.close();
    valkey.close();
  }

  static McpSyncClient client(int port, String user) {
    HttpClientStreamableHttpTransport transport =
        HttpClientStreamableHttpTransport.builder("http://localhost:" + port)
            .openConnectionOnStartup(false)
            .customizeClient(it -> it.version(HttpClient.Version.HTTP_1_1))
            .requestBuilder(HttpRequest.newBuilder().header("X-User", user))
            .build();
    // The machine may be busy.
    Duration patient = Duration.ofSeconds(60);
    McpSyncClient client =
        McpClient.sync(transport).requestTimeout(patient).initializationTimeout(patient).build();
    client.initialize();
    return client;
  }

  static CallToolResult call(McpSyncClient client, String tool, Map<String, Object> arguments) {
    return client.callTool(new CallToolRequest(tool, arguments, null));
  }

  /** Returns the last text of a result. */
  static String text(CallToolResult result) {
    return ((TextContent) result.content().get(result.content().size() - 1)).text();
  }

  private List<String> codes() {
    return shops.stream().flatMap(shop -> Guarded.codes(shop.refusals).stream()).sorted().toList();
  }

  @Test
  void usersHaveWhatIsTheirsAtEveryReplica() {
    try (McpSyncClient alice = client(container.port(), "alice");
        McpSyncClient bob = client(container.port(), "bob")) {
      String who = text(call(alice, "who", Map.of()));
      assertTrue(who.contains("2025-11-25") && who.contains("Java SDK MCP Client"), who);
      assertEquals(who, text(call(alice, "who", Map.of())));

      ListToolsResult first = alice.listTools((String) null);
      assertNotEquals("2", first.nextCursor());
      ListToolsResult second = alice.listTools(first.nextCursor());
      assertEquals(
          List.of("move", "new"), second.tools().stream().map(tool -> tool.name()).toList());
      McpError another = assertThrows(McpError.class, () -> bob.listTools(first.nextCursor()));
      assertEquals("Invalid cursor", another.getMessage());

      Map<String, Object> empty = Map.of("basket", text(call(alice, "new", Map.of())));
      CallToolResult added =
          call(alice, "add", Map.of("basket", empty.get("basket"), "item", "tea"));
      assertEquals("[tea]", text(call(alice, "open", Map.of("basket", text(added)))));
      assertTrue(call(bob, "open", empty).isError());

      Map<String, Object> row = Map.of("row", text(call(alice, "mint", Map.of())));
      assertTrue(text(call(alice, "row", row)).matches("[0-9a-f]{32}"));
      assertTrue(call(bob, "row", row).isError());
      assertEquals("ended", text(call(alice, "end", row)));
      for (int at = 0; at < 2; at++) {
        assertTrue(call(alice, "row", row).isError());
      }
    }
    assertEquals(2, ids.stream().distinct().count());
    assertTrue(
        shops.stream()
            .allMatch(shop -> shop.events.stream().anyMatch(e -> e.event().equals("opened"))));
    String others = "principal_mismatch";
    assertEquals(List.of("ended", "ended", others, others, "unauthentic"), codes());
  }

  /** No client of the SDK sends such. */
  @Test
  void whatAClientDeclaresIsKept() throws Exception {
    String call =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"who\",\"arguments\":{}}}";
    for (String odd : List.of("\"\\ud800\"", "1e400", "[".repeat(123) + "]".repeat(123))) {
      String own = "\"roots\":{},\"experimental\":{\"x\":{\"y\":" + odd + "}}";
      String initialize = Container.INITIALIZE.replace("\"sampling\":{}", own);
      HttpHeaders headers = container.post(initialize, "X-User", "alice").headers();
      String id = headers.firstValue("Mcp-Session-Id").orElseThrow();
      String told = container.post(call, "X-User", "alice", "Mcp-Session-Id", id).body();
      assertTrue(told.contains("roots"), told);
    }
    assertEquals(List.of(), codes());
  }
}
