package notes;

import io.github.sealwax.Codec;
import io.github.sealwax.Principal;
import io.github.sealwax.mcp.Guard;
import io.github.sealwax.mcp.ReferenceHandles;
import io.github.sealwax.mcp.SealwaxFilter;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessSyncServer;
import io.modelcontextprotocol.server.transport.HttpServletStatelessServerTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.Tool;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;

/** A guarded server in Spring Boot. */
@SpringBootApplication
public class NotesApplication {
  /** Serves. */
  public static void main(String[] arguments) {
    SpringApplication.run(NotesApplication.class, arguments);
  }

  /** The user as Spring Security knows it. */
  static McpTransportContext user(HttpServletRequest request) {
    return request.getUserPrincipal() == null
        ? McpTransportContext.EMPTY
        : McpTransportContext.create(
            Map.of("user", Principal.subject(request.getUserPrincipal().getName())));
  }

  @Bean
  Guard guard() {
    return Guard.builder(Codec.fromEnv("https://notes.example.com"))
        .principal(context -> (Principal) context.get("user"))
        .build();
  }

  @Bean
  ServletRegistrationBean<HttpServletStatelessServerTransport> transport() {
    return new ServletRegistrationBean<>(
        HttpServletStatelessServerTransport.builder()
            .contextExtractor(SealwaxFilter.extractor(NotesApplication::user))
            .build(),
        "/mcp");
  }

  @Bean
  FilterRegistrationBean<SealwaxFilter> sessions(Guard guard) {
    FilterRegistrationBean<SealwaxFilter> filter =
        new FilterRegistrationBean<>(
            SealwaxFilter.builder(guard).contextExtractor(NotesApplication::user).build());
    filter.addUrlPatterns("/mcp");
    return filter;
  }

  @Bean
  McpStatelessSyncServer server(
      Guard guard, ServletRegistrationBean<HttpServletStatelessServerTransport> transport) {
    ReferenceHandles notebooks = guard.referenceHandles("notebook");
    Tool open = Tool.builder("new_notebook", Map.of("type", "object")).build();
    return McpServer.sync(guard.protect(transport.getServlet()))
        .serverInfo("notes", "1")
        .capabilities(ServerCapabilities.builder().tools(false).build())
        .toolCall(
            open,
            (context, call) ->
                CallToolResult.builder().addTextContent(notebooks.mint(context).handle()).build())
        .build();
  }
}
