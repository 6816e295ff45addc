package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Library;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** What passes the filter on its way to a server, which is a function here, and back. */
class FilterTest {
  private static final Container CONTAINER = new Container();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final String SESSION = "Mcp-Session-Id";
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
  private static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
          + "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}";
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
          + "\"serverInfo\":{\"name\":\"Jos\u00e9\",\"version\":\"1\"}}}";

  private final Counting counting = new Counting();
  private final Codec codec =
      Access.build(
          Codec.builder("https://mcp.example.com").keys(KeyRing.of(Key.generate())),
          Library.of(counting, 1));
  private final List<Refusal> refusals = new ArrayList<>();
  private final Guard guard = Guard.builder(codec).anonymous().onRefused(refusals::add).build();

  @AfterAll
  static void stop() {
    CONTAINER.close();
  }

  /** Puts a filter in front of a server. */
  private void serving(UnaryOperator<SealwaxFilter.Builder> more, Container.Place server) {
    SealwaxFilter filter = more.apply(SealwaxFilter.builder(guard)).build();
    CONTAINER.place =
        (request, response) ->
            filter.doFilter(
                request,
                response,
                (passed, answer) ->
                    server.serve((HttpServletRequest) passed, (HttpServletResponse) answer));
  }

  private static void begin(HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    response.setContentType("application/json");
    response.getOutputStream().write(INITIALIZED.getBytes(StandardCharsets.UTF_8));
  }

  private static HttpResponse<String> post(String body, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + CONTAINER.port() + "/mcp"))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static String session(HttpResponse<String> answer) {
    return answer.headers().firstValue(SESSION).orElse(null);
  }

  /** Begins a session. */
  private String begun() throws IOException, InterruptedException {
    serving(it -> it, FilterTest::begin);
    String session = session(post(INITIALIZE));
    assertNotNull(session);
    return session;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBodyIsWhatTheClientSentInWhateverWayItIsRead(boolean isText) throws Exception {
    String body = PING.replace("}", ",\"params\":{\"name\":\"Jos\u00e9 \ud83d\ude00\"}}");
    serving(
        SealwaxFilter.Builder::optional,
        (request, response) -> {
          assertEquals(body.getBytes(StandardCharsets.UTF_8).length, request.getContentLength());
          String read =
              isText
                  ? request.getReader().lines().collect(Collectors.joining())
                  : new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
          response.setContentType("application/json;charset=UTF-8");
          response.getWriter().write(read);
        });
    assertEquals(body, post(body).body());
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBodyWithoutItsSessionIsAsLongAsItSays(boolean isText) throws Exception {
    String session = begun();
    List<String> seen = new ArrayList<>();
    serving(
        SealwaxFilter.Builder::sep1359,
        (request, response) -> {
          byte[] read = request.getInputStream().readAllBytes();
          seen.add(new String(read, StandardCharsets.UTF_8));
          seen.add(request.getContentLength() + " " + request.getContentLengthLong());
          seen.add(read.length + " " + read.length);
          seen.add(
              request.getHeader("content-length") + " " + request.getIntHeader("Content-Length"));
          response.setContentType("application/json;charset=UTF-8");
          String answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"name\":\"Jos\u00e9\"}}";
          if (isText) {
            response.getWriter().write(answer);
          } else {
            response.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
          }
        });
    String body = PING.replace("\"id\"", "\"sessionId\":\"" + session + "\",\"id\"");
    Map<String, Object> result = Values.object(Json.object(post(body).body()).get("result"));
    assertFalse(seen.get(0).contains("sessionId"), seen.get(0));
    assertEquals(seen.get(2), seen.get(1));
    assertEquals(seen.get(2), seen.get(3));
    assertEquals(Map.of("name", "Jos\u00e9", "sessionId", session), result);
  }

  @Test
  void aServerIsToldTheRevisionThatItsClientLeavesOut() throws Exception {
    String session = begun();
    List<String> seen = new ArrayList<>();
    serving(it -> it, (request, response) -> seen.add(request.getHeader("MCP-Protocol-Version")));
    assertEquals(200, post(PING, SESSION, session).statusCode());
    assertEquals(List.of("2025-11-25"), seen);
  }

  @Test
  void whatIsRefusedIsReportedWithItsTarget() throws Exception {
    serving(it -> it, FilterTest::begin);
    String call = PING.replace("ping\"", "tools/call\",\"params\":{\"name\":\"play\"}");
    assertEquals(404, post(call, SESSION, "x").statusCode());
    Refusal refusal = refusals.get(0);
    assertEquals("tools/call play", refusal.method() + " " + refusal.target());
    assertFalse(refusal.isCustomMethod());
  }

  @Test
  void anEngineThatFailsIsReportedAndTheClientHearsNothing() throws Exception {
    serving(it -> it, FilterTest::begin);
    counting.breaks = Frame.HTTP;
    HttpResponse<String> answer = post(INITIALIZE);
    assertEquals(500, answer.statusCode());
    assertEquals("", answer.body());
    assertEquals(List.of("internal_error"), refusals.stream().map(Refusal::code).toList());
  }

  @Test
  void aHandlersContextHasAllHeadersThatAreSessions() throws Exception {
    List<Object> headers = new ArrayList<>();
    var extractor = SealwaxFilter.extractor(request -> McpTransportContext.EMPTY);
    CONTAINER.place =
        (request, response) -> headers.add(extractor.extract(request).get(Served.HEADER));
    post(PING);
    post(PING, SESSION, "one");
    post(PING, SESSION, "one", SESSION, "two");
    List<Object> expected = new ArrayList<>();
    expected.add(null);
    expected.addAll(List.of("one", "one,two"));
    assertEquals(expected, headers);
  }

  @Test
  void aFilterOfAnotherGuardSaysNothingOfTheCaller() throws Exception {
    List<Object> seen = new ArrayList<>();
    Guard other =
        Guard.builder(codec)
            .principal(context -> Principal.subject("bob"))
            .onEvent(event -> seen.add(event.principal()))
            .build();
    ReferenceHandles rows = other.referenceHandles("row");
    HttpServletStatelessServerTransport servlet =
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(request -> McpTransportContext.EMPTY))
            .build();
    String session = begun();
    other
        .protect(servlet)
        .setMcpHandler(
            new Answering(
                context -> {
                  rows.mint(context);
                  seen.add(other.negotiated(context));
                  return Mono.just(Map.of());
                }));
    serving(it -> it, servlet::service);
    post(PING, SESSION, session, "Accept", "application/json, text/event-stream");
    List<Object> expected = new ArrayList<>(List.of(Principal.subject("bob")));
    expected.add(null);
    assertEquals(expected, seen);
  }
}
