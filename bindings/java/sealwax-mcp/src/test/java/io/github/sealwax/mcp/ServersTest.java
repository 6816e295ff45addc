package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ListToolsResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two replicas in Tomcat on one Valkey: each request of the SDK's own client goes to the other. */
class ServersTest {
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final Valkey valkey = new Valkey();
  private final RedisLedger ledger = new RedisLedger(valkey.url());
  private final Container container = new Container();
  private final Key key = Key.generate();
  private final List<Shop> shops = List.of(shop(), shop());
  private final List<String> ids = new CopyOnWriteArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  ServersTest() {
    container.place =
        (request, response) -> {
          if (request.getHeader("Mcp-Session-Id") != null) {
            ids.add(request.getHeader("Mcp-Session-Id"));
          }
          shops.get(next.getAndIncrement() % 2).serve(request, response);
        };
  }

  private Shop shop() {
    LedgerOptions anyAge = LedgerOptions.DEFAULT.withAcceptIssuedSince(Instant.ofEpochSecond(1));
    return new Shop(
        Codec.of(KeyRing.of(key), "https://mcp.example.com"),
        // This is not about time, and the machine may be busy.
        builder -> builder.ledger(ledger, anyAge).timeLimit(Duration.ofSeconds(60)),
        filter -> filter);
  }

  @AfterEach
  void stop() {
    container.close();
    ledger.close();
    valkey.close();
  }

  private McpSyncClient client(String user) {
    HttpClientStreamableHttpTransport transport =
        HttpClientStreamableHttpTransport.builder("http://127.0.0.1:" + container.port())
            .openConnectionOnStartup(false)
            .customizeClient(it -> it.version(HttpClient.Version.HTTP_1_1))
            .requestBuilder(HttpRequest.newBuilder().header("X-User", user))
            .build();
    McpSyncClient client = McpClient.sync(transport).requestTimeout(Duration.ofSeconds(60)).build();
    client.initialize();
    return client;
  }

  private static CallToolResult call(
      McpSyncClient client, String tool, Map<String, Object> arguments) {
    return client.callTool(new CallToolRequest(tool, arguments, null));
  }

  private static String text(CallToolResult result) {
    return ((TextContent) result.content().get(0)).text();
  }

  private List<String> codes() {
    Stream<Refusal> refusals = shops.stream().flatMap(shop -> shop.refusals.stream());
    return refusals.map(Refusal::code).sorted().toList();
  }

  @Test
  void usersHaveWhatIsTheirsAtEveryReplica() {
    try (McpSyncClient alice = client("alice");
        McpSyncClient bob = client("bob")) {
      String who = text(call(alice, "who", Map.of()));
      assertTrue(who.contains("2025-11-25") && who.contains("Java SDK MCP Client"), who);
      assertEquals(who, text(call(alice, "who", Map.of())));

      ListToolsResult first = alice.listTools((String) null);
      assertNotEquals("2", first.nextCursor());
      ListToolsResult second = alice.listTools(first.nextCursor());
      assertEquals(
          List.of("new", "add"), second.tools().stream().map(tool -> tool.name()).toList());
      McpError another = assertThrows(McpError.class, () -> bob.listTools(first.nextCursor()));
      assertEquals("Invalid cursor", another.getMessage());

      String basket = text(call(alice, "new", Map.of()));
      CallToolResult one = call(alice, "add", Map.of("basket", basket, "item", "tea"));
      CallToolResult two = call(alice, "add", Map.of("basket", text(one), "item", "milk"));
      assertEquals(Map.of("items", List.of("tea", "milk")), two.structuredContent());
      assertTrue(call(bob, "add", Map.of("basket", basket, "item", "x")).isError());

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

  // Requests that no client of the SDK sends.

  private static String initialize(String experimental) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
        + "\"capabilities\":{\"roots\":{},\"experimental\":{\"x\":{\"y\":"
        + experimental
        + "}}},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
  }

  private HttpResponse<String> post(String id, String user, String body) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + container.port() + "/mcp"))
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("X-User", user)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    try {
      return HTTP.send(
          (id == null ? request : request.header("Mcp-Session-Id", id)).build(),
          HttpResponse.BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private String begun(String user, String experimental) {
    HttpResponse<String> answer = post(null, user, initialize(experimental));
    return answer.headers().firstValue("Mcp-Session-Id").orElseThrow();
  }

  private static String call(String tool, String more) {
    return "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\""
        + tool
        + "\",\"arguments\":{}"
        + more
        + "}}";
  }

  static List<String> declared() {
    return List.of("1", "\"\\ud800\"", "1e400", "[".repeat(123) + "]".repeat(123));
  }

  @ParameterizedTest
  @MethodSource("declared")
  void whatAClientDeclaresIsKept(String experimental) {
    String id = begun("alice", experimental);
    String told = post(id, "alice", call("who", "")).body();
    assertTrue(told.contains("roots"), told);
    assertEquals(List.of(), codes());
  }

  @Test
  void whoIsRevokedIsSignedOutEverywhere() {
    String alice = begun("alice", "1");
    String bob = begun("bob", "1");
    shops.get(0).guard.revoke(Principal.of("https://idp.example.com", "cli-7", "alice"));
    for (int at = 0; at < 2; at++) {
      assertEquals(404, post(alice, "alice", call("who", "")).statusCode());
      assertEquals(200, post(bob, "bob", call("who", "")).statusCode());
    }
    assertEquals(List.of("revoked", "revoked"), codes());
  }

  @Test
  void ofWritesAtOnceOneCounts() {
    String id = begun("alice", "1");
    String create = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sessions/create\",\"params\":{}}";
    Map<String, Object> created = Json.object(post(id, "alice", create).body());
    String session = Json.write(Values.object(created.get("result")).get("session"));
    String count =
        call("count", ",\"_meta\":{\"io.modelcontextprotocol/session\":" + session + "}");
    List<String> told =
        IntStream.range(0, 8).parallel().mapToObj(at -> post(id, "alice", count).body()).toList();
    // The others are told that their state is not the latest.
    List<String> won = told.stream().filter(body -> !body.contains("\"isError\":true")).toList();
    assertEquals(1, won.size(), () -> "" + told);
    assertTrue(won.get(0).contains("\"text\":\"1\""), won.get(0));
    assertEquals(7, codes().stream().filter("stale"::equals).count());
  }
}
