package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.RequestContext;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a requestState is bound to, of arguments as the SDK reads them. */
class ArgumentsTest {
  private static RequestContext bound(String arguments) throws IOException {
    Object message =
        McpSchema.deserializeJsonRpcMessage(
            McpJsonDefaults.getMapper(),
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"arguments\":"
                + arguments
                + "}}");
    Map<String, Object> params = Values.object(((JSONRPCRequest) message).params());
    String written = Json.writeClients(params.get("arguments"));
    return RequestContext.ofJson("tools/call", "x", written);
  }

  @Test
  void aNumberOutOfRangeIsNoText() throws IOException {
    String text = "{\"a\":[\"Infinity\",null,1.5]}";
    assertEquals(RequestContext.ofJson("tools/call", "x", text), bound(text));
    for (String number : new String[] {"1e400", "-1e400", "1" + "0".repeat(400) + ".0"}) {
      for (String arguments : new String[] {"{\"a\":%s}", "{\"a\":[{\"b\":%s}]}"}) {
        assertThrows(
            InvalidArgumentException.class, () -> bound(arguments.formatted(number)), number);
      }
    }
  }
}
