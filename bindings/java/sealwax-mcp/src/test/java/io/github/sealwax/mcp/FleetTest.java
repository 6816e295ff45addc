package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ListToolsResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two replicas in Tomcat: each request of the SDK's own client goes to the other one. */
class FleetTest {
  private static final Container CONTAINER = new Container();
  private static final Instant NOW = Instant.parse("2027-01-15T08:00:00Z");
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final TestClock clock = new TestClock(NOW);
  private final Key key = Key.generate();
  private final List<String> ids = new CopyOnWriteArrayList<>();
  private List<Shop> shops;

  @AfterAll
  static void stop() {
    CONTAINER.close();
  }

  @BeforeEach
  void twoReplicas() {
    replicas(UnaryOperator.identity(), UnaryOperator.identity());
  }

  private void replicas(
      UnaryOperator<Guard.Builder> more, UnaryOperator<SealwaxFilter.Builder> filtered) {
    shops = List.of(new Shop(codec(key), more, filtered), new Shop(codec(key), more, filtered));
    AtomicInteger next = new AtomicInteger();
    CONTAINER.place =
        (request, response) -> {
          if (request.getHeader("Mcp-Session-Id") != null) {
            ids.add(request.getHeader("Mcp-Session-Id"));
          }
          shops.get(next.getAndIncrement() % 2).serve(request, response);
        };
  }

  private Codec codec(Key... keys) {
    return TestCodec.of(clock, Codec.builder("https://mcp.example.com").keys(KeyRing.of(keys)));
  }

  /** A ledger of both replicas, on their clock. */
  private UnaryOperator<Guard.Builder> withLedger() {
    MemoryLedger ledger = new MemoryLedger(clock, Duration.ofHours(1));
    return builder -> builder.ledger(ledger);
  }

  private static McpSyncClient client(String user) {
    HttpClientStreamableHttpTransport transport =
        HttpClientStreamableHttpTransport.builder("http://127.0.0.1:" + CONTAINER.port())
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
    List<String> codes = new ArrayList<>();
    shops.forEach(shop -> shop.refusals.forEach(refusal -> codes.add(refusal.code())));
    return codes;
  }

  @Test
  void theOfficialClientHasASessionAtEveryReplica() {
    try (McpSyncClient alice = client("alice")) {
      String who = text(call(alice, "who", Map.of()));
      assertTrue(who.contains("protocolVersion=2025-11-25"), who);
      assertTrue(who.contains("Java SDK MCP Client"), who);
      assertEquals(who, text(call(alice, "who", Map.of())));
      assertEquals(1, ids.stream().distinct().count());
      assertTrue(ids.size() >= 3);
      assertTrue(
          shops.stream()
              .allMatch(shop -> shop.events.stream().anyMatch(e -> e.event().equals("opened"))));
    }
    assertEquals(List.of(), codes());
  }

  @Test
  void cursorsAreSealedAndComeBack() {
    try (McpSyncClient alice = client("alice");
        McpSyncClient bob = client("bob")) {
      ListToolsResult first = alice.listTools((String) null);
      assertNotEquals("2", first.nextCursor());
      ListToolsResult second = alice.listTools(first.nextCursor());
      assertEquals(
          List.of("new", "add"), second.tools().stream().map(tool -> tool.name()).toList());
      McpError another = assertThrows(McpError.class, () -> bob.listTools(first.nextCursor()));
      McpError plain = assertThrows(McpError.class, () -> alice.listTools("2"));
      assertEquals(another.getJsonRpcError(), plain.getJsonRpcError());
      assertEquals("Invalid cursor", plain.getMessage());
      assertEquals(List.of("malformed", "principal_mismatch"), codes().stream().sorted().toList());
    }
  }

  @Test
  void aHandleHoldsItsState() {
    try (McpSyncClient alice = client("alice");
        McpSyncClient bob = client("bob")) {
      String empty = text(call(alice, "new", Map.of()));
      CallToolResult one = call(alice, "add", Map.of("basket", empty, "item", "tea"));
      CallToolResult two = call(alice, "add", Map.of("basket", text(one), "item", "milk"));
      assertEquals(Map.of("items", List.of("tea", "milk")), two.structuredContent());

      String altered = empty.substring(0, empty.length() - 5) + "AAAAA";
      CallToolResult refused = call(alice, "add", Map.of("basket", altered, "item", "x"));
      assertTrue(refused.isError());
      clock.advance(Duration.ofMinutes(1));
      List<CallToolResult> others =
          List.of(
              call(bob, "add", Map.of("basket", empty, "item", "x")),
              call(alice, "add", Map.of("basket", 7, "item", "x")),
              call(alice, "add", Map.of("item", "x")));
      others.forEach(other -> assertEquals(refused, other));
      clock.advance(Duration.ofDays(2));
      assertEquals(refused, call(alice, "add", Map.of("basket", empty, "item", "x")));
      assertTrue(
          codes()
              .containsAll(List.of("unauthentic", "principal_mismatch", "malformed", "expired")));
    }
  }

  @Test
  void aHandleIsTheKeyOfItsRow() {
    replicas(withLedger(), UnaryOperator.identity());
    try (McpSyncClient alice = client("alice");
        McpSyncClient bob = client("bob")) {
      String handle = text(call(alice, "mint", Map.of()));
      String ulid = text(call(alice, "row", Map.of("row", handle)));
      assertTrue(ulid.matches("[0-9a-f]{32}"));
      assertTrue(call(bob, "row", Map.of("row", handle)).isError());
      assertEquals("ended", text(call(alice, "end", Map.of("row", handle))));
      // At the other replica too.
      for (int at = 0; at < 2; at++) {
        assertTrue(call(alice, "row", Map.of("row", handle)).isError());
      }
      assertEquals(2, codes().stream().filter("ended"::equals).count());
    }
  }

  @Test
  void whoIsRevokedIsSignedOutEverywhere() {
    replicas(withLedger(), UnaryOperator.identity());
    try (McpSyncClient alice = client("alice")) {
      String handle = text(call(alice, "mint", Map.of()));
      shops.get(0).guard.revoke(Principal.of("https://idp.example.com", "cli-7", "alice"));
      String id = ids.get(0);
      for (int at = 0; at < 2; at++) {
        assertEquals(404, post(id, "alice", PING).statusCode());
      }
      clock.advance(Duration.ofSeconds(10));
      try (McpSyncClient again = client("alice")) {
        assertTrue(call(again, "row", Map.of("row", handle)).isError());
        assertFalse(Boolean.TRUE.equals(call(again, "mint", Map.of()).isError()));
      }
      assertTrue(codes().contains("revoked"));
    }
  }

  // Requests that no client of the SDK sends.

  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
          + "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";

  private static HttpRequest.Builder request(String user) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + CONTAINER.port() + "/mcp"))
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json");
    return user == null ? request : request.header("X-User", user);
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
    } catch (java.io.IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpResponse<String> post(String id, String user, String body) {
    HttpRequest.Builder request = request(user).POST(HttpRequest.BodyPublishers.ofString(body));
    return send(id == null ? request : request.header("Mcp-Session-Id", id));
  }

  private static String begun(String user) {
    return post(null, user, INITIALIZE).headers().firstValue("Mcp-Session-Id").orElseThrow();
  }

  @Test
  void whatIsRefusedIsNotFoundAndLooksAlike() {
    String good = begun("alice");
    assertEquals(200, post(good, "alice", PING).statusCode());
    String altered = good.substring(0, good.length() - 5) + "AAAAA";
    String another =
        TestCodec.of(clock).view(Principal.subject("alice")).session().seal(new byte[3]);
    List<HttpResponse<String>> refused = new ArrayList<>();
    for (String id :
        List.of(altered, another, "no-token", good + good, good + "=", "a".repeat(5000))) {
      refused.add(post(id, "alice", PING));
    }
    refused.add(post(good, "bob", PING));
    refused.add(
        send(
            request("alice")
                .header("Mcp-Session-Id", good)
                .header("Mcp-Session-Id", good)
                .POST(HttpRequest.BodyPublishers.ofString(PING))));
    clock.advance(Duration.ofDays(31));
    refused.add(post(good, "alice", PING));
    assertEquals(List.of(404), refused.stream().map(HttpResponse::statusCode).distinct().toList());
    assertEquals(1, refused.stream().map(HttpResponse::body).distinct().count());
    assertEquals(400, post(null, "alice", PING).statusCode());
    assertTrue(
        codes()
            .containsAll(
                List.of(
                    "unauthentic", "unknown_key", "malformed", "principal_mismatch", "expired")));
  }

  @Test
  void aCallerWhoIsNobodyGetsNothing() {
    HttpResponse<String> nobody = post(null, null, INITIALIZE);
    assertEquals(400, nobody.statusCode());
    assertNull(nobody.headers().firstValue("Mcp-Session-Id").orElse(null));
    assertEquals(List.of("unauthenticated"), codes());
  }

  @Test
  void whatIsNoMessageIsTheServersOwnBusiness() {
    String good = begun("alice");
    for (String body :
        List.of("", "{", "[]", "7", "null", "{\"id\":1}", "[".repeat(100_000), "\"\\ud800\"")) {
      int status = post(good, "alice", body).statusCode();
      assertTrue(status == 400 || status == 500, body + " " + status);
    }
    String surrogate =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":\"\\ud800\"}}";
    assertTrue(post(good, "alice", surrogate).body().contains("Invalid cursor"));
    assertEquals(200, post(good, "alice", PING).statusCode());
  }

  @Test
  void noVersionPassesWithoutASession() {
    for (List<String> versions :
        List.of(
            List.of("2026-07-28"),
            List.of(""),
            List.of("x"),
            List.of("2025-11-25", "2026-07-28"),
            List.of("2026-07-28", "2025-11-25"))) {
      HttpRequest.Builder request =
          request("alice").POST(HttpRequest.BodyPublishers.ofString(PING));
      versions.forEach(version -> request.header("MCP-Protocol-Version", version));
      assertEquals(400, send(request).statusCode(), () -> "" + versions);
    }
  }

  @Test
  void aBodyOverTheLimitIsNotRead() {
    assertEquals(413, post(null, "alice", " ".repeat((4 << 20) + 1)).statusCode());
  }

  @Test
  void aSessionIsDeletedWhereThatIsRemembered() {
    String good = begun("alice");
    HttpRequest.Builder delete = request("alice").header("Mcp-Session-Id", good).DELETE();
    assertEquals(405, send(delete).statusCode());
    replicas(withLedger(), UnaryOperator.identity());
    String ending = begun("alice");
    assertEquals(
        204, send(request("alice").header("Mcp-Session-Id", ending).DELETE()).statusCode());
    for (int at = 0; at < 2; at++) {
      assertEquals(404, post(ending, "alice", PING).statusCode());
    }
  }

  @Test
  void anIdleSessionEnds() {
    replicas(withLedger(), filter -> filter.idle(Duration.ofMinutes(5)));
    String id = begun("alice");
    for (int at = 0; at < 3; at++) {
      clock.advance(Duration.ofMinutes(4));
      assertEquals(200, post(id, "alice", PING).statusCode());
    }
    clock.advance(Duration.ofMinutes(6));
    assertEquals(404, post(id, "alice", PING).statusCode());
  }

  @Test
  void aKeyIsRotatedWhileTheyServe() {
    String id = begun("alice");
    Key next = Key.generate();
    Codec both = codec(next, key);
    shops = List.of(new Shop(both, it -> it, it -> it), new Shop(both, it -> it, it -> it));
    assertEquals(200, post(id, "alice", PING).statusCode());
    both.setKeys(KeyRing.of(next));
    assertEquals(404, post(id, "alice", PING).statusCode());
    assertEquals("unknown_key", codes().get(0));
  }

  @Test
  void ofWritesAtOnceOneCounts() {
    replicas(withLedger(), UnaryOperator.identity());
    String id = begun("alice");
    Map<String, Object> created = Json.object(post(id, "alice", CREATE).body());
    Object session = Values.object(created.get("result")).get("session");
    List<String> told =
        java.util.stream.IntStream.range(0, 8)
            .parallel()
            .mapToObj(at -> post(id, "alice", count(session)).body())
            .toList();
    // The others are told that their state is not the latest.
    List<String> won = told.stream().filter(body -> !body.contains("\"isError\":true")).toList();
    assertEquals(1, won.size(), () -> "" + told);
    assertTrue(won.get(0).contains("\"text\":\"1\""), won.get(0));
    assertEquals(7, codes().stream().filter("stale"::equals).count());
  }

  private static final String CREATE =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sessions/create\",\"params\":{}}";

  private static String count(Object session) {
    return Json.write(
        Map.of(
            "jsonrpc",
            "2.0",
            "id",
            1,
            "method",
            "tools/call",
            "params",
            Map.of(
                "name", "count",
                "arguments", Map.of(),
                "_meta", Map.of("io.modelcontextprotocol/session", session))));
  }
}
