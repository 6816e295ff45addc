package io.github.sealwax.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.github.sealwax.Principal;
import io.github.sealwax.View;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.mcp.internal.Json;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** What passes the filter on its way to a server, which is a function here, and back. */
class FilterTest extends Guarded {
  private static final Container CONTAINER = new Container();
  private static final String HEADER = "Mcp-Session-Id";
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
  private static final String INITIALIZED =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
          + "\"serverInfo\":{\"name\":\"Jos\u00e9\",\"version\":\"1\"}}}";

  private final Guard guard = builder().principal(context -> Principal.subject("alice")).build();

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
    response.getOutputStream().write(INITIALIZED.getBytes(UTF_8));
  }

  /** Begins a session. */
  private String begun() throws IOException, InterruptedException {
    serving(it -> it, FilterTest::begin);
    HttpResponse<String> answer = CONTAINER.post(Container.INITIALIZE);
    return answer.headers().firstValue(HEADER).orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBodyWithoutItsSessionIsReadAndAnsweredInEitherWay(boolean isText) throws Exception {
    String session = begun();
    List<String> seen = new ArrayList<>();
    serving(
        SealwaxFilter.Builder::sep1359,
        (request, response) -> {
          seen.add(
              isText
                  ? request.getReader().lines().collect(Collectors.joining())
                  : new String(request.getInputStream().readAllBytes(), UTF_8));
          seen.add("" + request.getContentLength());
          seen.add("" + request.getContentLengthLong());
          seen.add("" + request.getIntHeader("Content-Length"));
          seen.add(request.getHeader("content-length"));
          // The client leaves it out, and it was negotiated.
          seen.add(request.getHeader("MCP-Protocol-Version"));
          response.setContentType("application/json;charset=UTF-8");
          String answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"name\":\"Jos\u00e9\"}}";
          if (isText) {
            response.getWriter().write(answer);
          } else {
            response.getOutputStream().write(answer.getBytes(UTF_8));
          }
        });
    String body = PING.replace("}", ",\"params\":{\"name\":\"Jos\u00e9 \ud83d\ude00\"}}");
    String sent = body.replace("\"id\"", "\"sessionId\":\"" + session + "\",\"id\"");
    Map<String, Object> answer = Json.object(CONTAINER.post(sent).body());
    String length = "" + body.getBytes(UTF_8).length;
    assertEquals(List.of(body, length, length, length, length, "2025-11-25"), seen);
    assertEquals(Map.of("name", "Jos\u00e9", "sessionId", session), answer.get("result"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFailureIsReportedAndTheClientHearsNothing(boolean isOfTheEngine) throws Exception {
    serving(
        filter ->
            isOfTheEngine
                ? filter
                : filter.contextExtractor(
                    request -> {
                      throw new NoClassDefFoundError("hunter2");
                    }),
        FilterTest::begin);
    counting.breaks = isOfTheEngine ? Frame.HTTP : 0;
    HttpResponse<String> answer = CONTAINER.post(Container.INITIALIZE);
    assertEquals(500, answer.statusCode());
    assertEquals("", answer.body());
    assertEquals(List.of(isOfTheEngine ? "internal_error" : "invalid_argument"), codes());
    assertFalse(refusals.toString().contains("hunter2"));
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
            new Direct.Answering(
                (context, method, params) -> {
                  rows.mint(context);
                  seen.add(other.negotiated(context));
                  return Mono.just(Map.of());
                }));
    serving(it -> it, servlet::service);
    CONTAINER.post(PING, HEADER, session);
    assertEquals(Arrays.asList(Principal.subject("bob"), null), seen);
  }

  // The cases of tests/vectors/wire.json that are HTTP, byte by byte.

  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int LIMIT = 4 << 10;
  private static final String NEGOTIATED =
      "{\"clientCapabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"},"
          + "\"protocolVersion\":\"2025-11-25\",\"serverCapabilities\":{}}";

  /** What stands for other texts. */
  private final Map<String, String> known = new HashMap<>();

  private byte[] delivered;

  static Stream<Map<String, Object>> cases() throws IOException {
    Path vectors = Path.of(System.getProperty("repository"), "tests/vectors");
    return Values.list(Json.object(Files.readString(vectors.resolve("wire.json"))).get("cases"))
        .stream()
        .map(Values::object)
        .filter(FilterTest::isPlayed);
  }

  /** The SDK speaks no later revision, and what a servlet throws is its container's. */
  private static boolean isPlayed(Map<String, Object> one) {
    boolean isLater = ((String) one.get("name")).contains("no session is needed");
    return one.containsKey("http") && !isLater && !one.containsKey("broke");
  }

  private String text(Object text) {
    String found = (String) text;
    for (Map.Entry<String, String> each : known.entrySet()) {
      found = found.replace(each.getKey(), each.getValue());
    }
    return found;
  }

  private byte[] bytes(Object text) {
    if (!(text instanceof Map)) {
      return text(text).getBytes(UTF_8);
    }
    String hex = (String) Values.object(text).get("hex");
    return hex == null ? new byte[LIMIT + 1] : HexFormat.of().parseHex(hex);
  }

  private void serve(
      Map<String, Object> answer, HttpServletRequest request, HttpServletResponse response)
      throws IOException {
    delivered = request.getInputStream().readAllBytes();
    if (answer.isEmpty()) {
      return;
    }
    response.setStatus((int) answer.get("status"));
    response.setContentType((String) answer.get("type"));
    if (answer.get("session") instanceof String session) {
      response.setHeader(HEADER, session);
    }
    response.getOutputStream().write(bytes(answer.get("body")));
  }

  private void header(HttpRequest.Builder request, String name, Object value, String several) {
    if (value instanceof Map) {
      request.header(name, several).header(name, several);
    } else if (value != null) {
      request.header(name, text(value));
    }
  }

  private HttpResponse<byte[]> sent(Map<String, Object> http)
      throws IOException, InterruptedException {
    Object body = http.get("body");
    HttpRequest.Builder request =
        CONTAINER
            .request()
            .method(
                (String) http.get("method"),
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(bytes(body)));
    header(request, HEADER, http.get("session"), known.get("{t}"));
    header(request, "MCP-Protocol-Version", http.get("version"), "2025-11-25");
    header(request, "Content-Encoding", http.get("encoding"), "");
    return HTTP.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
  }

  @ParameterizedTest
  @MethodSource("cases")
  void isAsTheVectorsHaveIt(Map<String, Object> one) throws Exception {
    try (View view = codec.view(Principal.subject("alice"))) {
      String token = view.session().seal(NEGOTIATED.getBytes(UTF_8));
      known.put("{t}", token);
      known.put("{bad}", token.substring(0, token.length() - 2) + "AA");
    }
    boolean isPlain = Values.object(one.get("settings")).isEmpty();
    Map<String, Object> http = Values.object(one.get("http"));
    Map<String, Object> answer = Values.object(one.get("answer"));
    serving(
        filter ->
            (isPlain ? filter : filter.sep1359().ttl(Duration.ofSeconds(600))).maxBodySize(LIMIT),
        (request, response) -> serve(answer, request, response));
    HttpResponse<byte[]> heard = sent(http);
    String said = new String(heard.body(), UTF_8);
    String begun = heard.headers().firstValue(HEADER).orElse(null);

    if (one.containsKey("delivers")) {
      assertNotNull(delivered);
      Object body = Values.object(one.get("delivers")).getOrDefault("body", http.get("body"));
      assertEquals(body == null ? "" : text(body), new String(delivered, UTF_8));
    } else {
      assertNull(delivered);
    }
    Map<String, Object> reply = Values.object(one.getOrDefault("replies", one.get("instead")));
    if (!reply.isEmpty()) {
      assertEquals(reply.get("status"), heard.statusCode());
      assertEquals(reply.get("allow"), heard.headers().firstValue("Allow").orElse(null));
      assertEquals(reply.containsKey("body") ? text(reply.get("body")) : "", said);
    } else if (!answer.isEmpty()) {
      assertEquals(one.containsKey("header"), begun != null);
      if (begun != null) {
        known.put("{new}", begun);
      }
      assertEquals(answer.get("status"), heard.statusCode());
      assertEquals(text(one.get("leaves")), said);
      int length = heard.body().length;
      assertEquals(length, heard.headers().firstValueAsLong("Content-Length").orElse(length));
    }
    assertEquals(one.containsKey("logged") ? List.of(one.get("logged")) : List.of(), codes());
  }
}
