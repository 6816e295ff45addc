package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.Key;
import io.modelcontextprotocol.client.McpSyncClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
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
          "Z WARN sealwax: (malformed) kind=handle-state method=\"tools/call\" target=\"add\""
              + " message=");

  @TempDir private Path folder;

  @Test
  void theServerServes() throws IOException {
    Path source = Path.of(System.getProperty("repository"), "examples/java/tomcat/Server.java");
    String path = System.getProperty("java.class.path");
    String[] arguments = {"-proc:none", "-cp", path, "-d", "" + folder, "" + source};
    assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments));

    Path java = Path.of(System.getProperty("java.home"), "bin/java");
    ProcessBuilder builder = new ProcessBuilder("" + java, "-cp", folder + ":" + path, "Server");
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
    String message = Container.INITIALIZE;
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
    try (McpSyncClient client = ServersTest.client(port, "anybody")) {
      String basket = ServersTest.text(ServersTest.call(client, "new_basket", Map.of()));
      Map<String, Object> tea = Map.of("basket", basket, "item", "tea");
      String added = ServersTest.text(ServersTest.call(client, "add", tea));
      assertEquals("[tea] are in the basket", added);
      Map<String, Object> none = Map.of("basket", "x", "item", "tea");
      assertTrue(ServersTest.call(client, "add", none).isError());
    }
  }
}
