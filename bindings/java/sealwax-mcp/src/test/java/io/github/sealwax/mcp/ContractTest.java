package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.transport.StdioServerTransportProvider;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.ListToolsResult;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.ProtocolVersions;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the SDK does not let through, as docs/systems.md says it: where it does, the guard can do
 * more.
 */
class ContractTest {
  private static List<String> members(Class<?> type) {
    return Arrays.stream(type.getRecordComponents()).map(RecordComponent::getName).toList();
  }

  @Test
  void itsLastRevisionIsTheOneBefore() throws IllegalAccessException {
    List<Object> known = new ArrayList<>();
    for (Field field : ProtocolVersions.class.getFields()) {
      known.add(field.get(null));
    }
    assertEquals(List.of("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"), known);
  }

  @Test
  void itsToolsHaveNoRequestState() {
    assertEquals(
        List.of("content", "isError", "structuredContent", "meta"),
        members(McpSchema.CallToolResult.class));
    assertFalse(members(McpSchema.CallToolRequest.class).contains("requestState"));
  }

  @Test
  void ofAMemberSentTwiceTheLastCounts() throws IOException {
    Object twice =
        McpSchema.deserializeJsonRpcMessage(
            McpJsonDefaults.getMapper(),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":1,\"a\":2,\"b\":1e400},\"sessionId\":\"x\"}");
    Map<String, Object> params = Values.object(((JSONRPCRequest) twice).params());
    assertEquals(2, params.get("a"));
    assertEquals(Double.POSITIVE_INFINITY, params.get("b"));
    assertEquals(List.of("jsonrpc", "method", "id", "params"), members(JSONRPCRequest.class));
  }

  @Test
  void itsListsHaveOnePage() {
    Direct server = new Direct();
    McpServer.sync(server).capabilities(ServerCapabilities.builder().tools(false).build()).build();
    Object result = server.ask("alice", "tools/list", Map.of("cursor", "no such page")).result();
    assertEquals(List.of(), ((ListToolsResult) result).tools());
  }

  @Test
  void aLineThatIsNoMessageEndsItsStdio() throws IOException {
    PipedInputStream stdin = new PipedInputStream(1 << 16);
    PipedOutputStream toServer = new PipedOutputStream(stdin);
    ByteArrayOutputStream stdout = new ByteArrayOutputStream();
    McpServer.sync(new StdioServerTransportProvider(McpJsonDefaults.getMapper(), stdin, stdout))
        .serverInfo("s", "1")
        .build();
    String ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    toServer.write(("junk\n" + ping).getBytes(StandardCharsets.UTF_8));
    toServer.flush();
    // Nobody reads on; what answers would end the loop.
    assertThrows(
        IOException.class,
        () -> {
          while (stdout.size() == 0) {
            toServer.write('\n');
            Thread.sleep(5);
          }
        });
  }

  /** Such as OpenTelemetry: it compiles without what Maven does not bring. */
  @Test
  void aModuleThatRequiresThisOneNeedsNothingOptional(@TempDir Path folder) throws IOException {
    Path source = folder.resolve("module-info.java");
    Files.writeString(source, "module demo { requires io.github.sealwax.mcp; }");
    String path =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.matches(".*(opentelemetry|lettuce|servlet|tomcat).*"))
            .collect(Collectors.joining(File.pathSeparator));
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    String[] arguments = {"-d", "" + folder, "--module-path", path, "" + source};
    int status = ToolProvider.getSystemJavaCompiler().run(null, said, said, arguments);
    assertEquals(0, status, said::toString);
  }
}
