package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
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
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The server that the README names, compiled and run as it stands there. */
class ReadmeTest {
  private static final Pattern LISTENING = Pattern.compile("listening on port (\\d+)");
  private static final Pattern REFUSED =
      Pattern.compile(
          "Z WARN sealwax: (malformed) kind=handle-state method=\"tools/call\" target=\"add\" message=");

  @TempDir private Path folder;

  @Test
  void theServerServes() throws IOException {
    Path source = Path.of(System.getProperty("repository"), "examples/java/tomcat/Server.java");
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

    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin/java").toString(),
            "-cp",
            folder + ":" + path,
            "Server");
    builder.environment().putAll(Map.of("PORT", "0", "SEALWAX_KEYS", Key.generate().toText()));
    Process process = builder.directory(folder.toFile()).redirectErrorStream(true).start();
    try (BufferedReader log =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      int port = Integer.parseInt(found(LISTENING, log));
      visit(port);
      intrude(port);
      found(REFUSED, log);
    } finally {
      process.destroy();
    }
  }

  /** It has no users, so that neither the network nor a website may reach it. */
  private static void intrude(int port) throws IOException {
    try (Socket elsewhere = new Socket()) {
      InetSocketAddress other = new InetSocketAddress("127.0.0.2", port);
      assertThrows(IOException.class, () -> elsewhere.connect(other, 5_000));
    }
    String message =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
            + "\"capabilities\":{},\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}";
    for (Map.Entry<String, String> one :
        Map.of("localhost", "200", "website.example", "421").entrySet()) {
      String request =
          "POST /mcp HTTP/1.1\r\nHost: %s:%d\r\nAccept: application/json, text/event-stream\r\n"
                  .formatted(one.getKey(), port)
              + "Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                  .formatted(message.length(), message);
      try (Socket website = new Socket("127.0.0.1", port)) {
        website.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
        InputStreamReader answer =
            new InputStreamReader(website.getInputStream(), StandardCharsets.UTF_8);
        assertEquals("HTTP/1.1 " + one.getValue(), new BufferedReader(answer).readLine().trim());
      }
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
        HttpClientStreamableHttpTransport.builder("http://localhost:" + port)
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
