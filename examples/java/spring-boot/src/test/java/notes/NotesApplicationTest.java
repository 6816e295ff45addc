package notes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;

/** A real start of Spring Boot, visited by the SDK's own client. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import(NotesApplicationTest.SignedIn.class)
class NotesApplicationTest {
  private static final CopyOnWriteArrayList<String> IDS = new CopyOnWriteArrayList<>();

  @Value("${local.server.port}")
  int port;

  /** In place of Spring Security: the user is whom the header says. */
  static class SignedIn {
    @Bean
    FilterRegistrationBean<Filter> authentication() {
      FilterRegistrationBean<Filter> filter =
          new FilterRegistrationBean<>(
              (request, response, chain) -> {
                HttpServletRequest http = (HttpServletRequest) request;
                String id = http.getHeader("Mcp-Session-Id");
                if (id != null) {
                  IDS.add(id);
                }
                chain.doFilter(
                    new HttpServletRequestWrapper(http) {
                      @Override
                      public Principal getUserPrincipal() {
                        String user = getHeader("X-User");
                        return user == null ? null : () -> user;
                      }
                    },
                    response);
              });
      filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
      return filter;
    }
  }

  private static int ping(int port, String id, String user)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/mcp"))
            .header("Accept", "application/json, text/event-stream")
            .header("Content-Type", "application/json")
            .header("X-User", user)
            .header("Mcp-Session-Id", id)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"))
            .build();
    return HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.discarding())
        .statusCode();
  }

  @Test
  void theOfficialClientHasASessionAndAHandle() throws IOException, InterruptedException {
    HttpClientStreamableHttpTransport transport =
        HttpClientStreamableHttpTransport.builder("http://127.0.0.1:" + port)
            .openConnectionOnStartup(false)
            .requestBuilder(HttpRequest.newBuilder().header("X-User", "alice"))
            .build();
    try (McpSyncClient alice =
        McpClient.sync(transport).requestTimeout(Duration.ofMinutes(1)).build()) {
      alice.initialize();
      TextContent told =
          (TextContent)
              alice.callTool(new CallToolRequest("new_notebook", Map.of(), null)).content().get(0);
      assertTrue(told.text().startsWith("notebook_"), told::text);
    }
    assertEquals(200, ping(port, IDS.get(0), "alice"));
    assertEquals(404, ping(port, IDS.get(0), "bob"));
  }
}
