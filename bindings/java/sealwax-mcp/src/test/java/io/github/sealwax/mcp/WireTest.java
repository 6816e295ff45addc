package io.github.sealwax.mcp;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.View;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The cases of tests/vectors/wire.json that are HTTP, byte by byte, through the filter. */
class WireTest {
  private static final Container CONTAINER = new Container();
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final int LIMIT = 4 << 10;
  private static final String SESSION = "Mcp-Session-Id";
  private static final String NEGOTIATED =
      "{\"clientCapabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"},"
          + "\"protocolVersion\":\"2025-11-25\",\"serverCapabilities\":{}}";

  private final Codec codec = Codec.of(KeyRing.of(Key.generate()), "https://mcp.example.com");
  private final List<String> logged = new ArrayList<>();

  /** What stands for other texts. */
  private final Map<String, String> known = new HashMap<>();

  private Map<String, Object> answer;
  private byte[] delivered;

  @AfterAll
  static void stop() {
    CONTAINER.close();
  }

  static Stream<Map<String, Object>> cases() throws IOException {
    Path vectors = Path.of(System.getProperty("repository"), "tests/vectors");
    return Values.list(Json.object(Files.readString(vectors.resolve("wire.json"))).get("cases"))
        .stream()
        .map(Values::object)
        .filter(WireTest::isPlayed);
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

  private void serve(HttpServletRequest request, HttpServletResponse response) throws IOException {
    delivered = request.getInputStream().readAllBytes();
    if (answer == null) {
      return;
    }
    response.setStatus((int) answer.get("status"));
    response.setContentType((String) answer.get("type"));
    if (answer.get("session") instanceof String session) {
      response.setHeader(SESSION, session);
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
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + CONTAINER.port() + "/mcp"))
            .method(
                (String) http.get("method"),
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofByteArray(bytes(body)));
    header(request, SESSION, http.get("session"), known.get("{t}"));
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
    Guard guard =
        Guard.builder(codec)
            .principal(context -> Principal.subject("alice"))
            .onRefused(refusal -> logged.add(refusal.code()))
            .build();
    SealwaxFilter.Builder builder = SealwaxFilter.builder(guard).maxBodySize(LIMIT);
    if (!Values.object(one.get("settings")).isEmpty()) {
      builder.sep1359().ttl(java.time.Duration.ofSeconds(600));
    }
    SealwaxFilter filter = builder.build();
    CONTAINER.place =
        (request, response) ->
            filter.doFilter(
                request,
                response,
                (passed, left) -> serve((HttpServletRequest) passed, (HttpServletResponse) left));
    Map<String, Object> http = Values.object(one.get("http"));
    answer = one.containsKey("answer") ? Values.object(one.get("answer")) : null;
    HttpResponse<byte[]> heard = sent(http);
    String said = new String(heard.body(), UTF_8);
    String begun = heard.headers().firstValue(SESSION).orElse(null);

    if (one.containsKey("delivers")) {
      assertNotNull(delivered);
      Object body = Values.object(one.get("delivers")).getOrDefault("body", http.get("body"));
      assertEquals(body == null ? "" : text(body), new String(delivered, UTF_8));
    } else {
      assertNull(delivered);
    }
    Object replied = one.getOrDefault("replies", one.get("instead"));
    if (replied != null) {
      Map<String, Object> reply = Values.object(replied);
      assertEquals(reply.get("status"), heard.statusCode());
      assertEquals(reply.get("allow"), heard.headers().firstValue("Allow").orElse(null));
      assertEquals(reply.containsKey("body") ? text(reply.get("body")) : "", said);
    } else if (answer != null) {
      assertEquals(one.containsKey("header"), begun != null);
      if (begun != null) {
        known.put("{new}", begun);
      }
      assertEquals(answer.get("status"), heard.statusCode());
      assertEquals(text(one.get("leaves")), said);
      int length = heard.body().length;
      assertEquals(length, heard.headers().firstValueAsLong("Content-Length").orElse(length));
    }
    assertEquals(one.containsKey("logged") ? List.of(one.get("logged")) : List.of(), logged);
  }
}
