package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Key;
import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server of the README, compiled and run as it stands there. */
class ReadmeTest {
  private static final Pattern SERVER =
      Pattern.compile("```java\n(import[^`]*class Server [^`]*)```");
  private static final Pattern LISTENING = Pattern.compile("listening on port (\\d+)");
  private static final Pattern REFUSED =
      Pattern.compile(
          "Z WARN sealwax: (malformed) kind=handle-state method=\"tools/call\" target=\"add\" message=");

  @TempDir private Path folder;

  @Test
  void theServerServes() throws IOException {
    String readme =
        Files.readString(Path.of(System.getProperty("repository"), "bindings/java/README.md"));
    Matcher server = SERVER.matcher(readme);
    assertTrue(server.find());
    Path source = Files.writeString(folder.resolve("Server.java"), server.group(1));
    String path = System.getProperty("java.class.path");
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-proc:none",
                "-cp",
                path,
                "-d",
                folder.toString(),
                source.toString());
    assertEquals(0, failed);

    // Without a provider of logs, which its reader may not have.
    String bare = path.replaceAll("[^:]*slf4j-simple[^:]*", "");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin/java").toString(),
            "-cp",
            folder + ":" + bare,
            "Server");
    builder.environment().putAll(Map.of("PORT", "0", "SEALWAX_KEYS", Key.generate().toText()));
    Process process = builder.directory(folder.toFile()).redirectErrorStream(true).start();
    try (BufferedReader log =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      visit(Integer.parseInt(found(LISTENING, log)));
      found(REFUSED, log);
    } finally {
      process.destroy();
    }
  }

  private static String found(Pattern pattern, BufferedReader log) throws IOException {
    for (String line = log.readLine(); line != null; line = log.readLine()) {
      Matcher matcher = pattern.matcher(line);
      if (matcher.find()) {
        return matcher.group(1);
      }
    }
    throw new AssertionError("expected a line of " + pattern);
  }

  private static void visit(int port) {
    HttpClientStreamableHttpTransport transport =
        HttpClientStreamableHttpTransport.builder("http://127.0.0.1:" + port)
            .openConnectionOnStartup(false)
            .build();
    try (McpSyncClient client =
        McpClient.sync(transport).requestTimeout(Duration.ofMinutes(1)).build()) {
      client.initialize();
      CallToolResult made = client.callTool(new CallToolRequest("new_basket", Map.of(), null));
      String basket = ((TextContent) made.content().get(0)).text();
      CallToolResult added =
          client.callTool(
              new CallToolRequest("add", Map.of("basket", basket, "item", "tea"), null));
      assertEquals("[tea] are in the basket", ((TextContent) added.content().get(1)).text());
      CallToolResult refused =
          client.callTool(new CallToolRequest("add", Map.of("basket", "x", "item", "tea"), null));
      assertTrue(refused.isError());
    }
  }
}
