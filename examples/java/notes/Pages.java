package notes;

import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpSchema.ListResourcesResult;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import java.util.List;
import java.util.Map;
import java.util.Comparator;
import reactor.core.publisher.Mono;

/**
 * Lists resources in pages of ten, which the SDK does not: the cursor is the start of the next page. It stands between the
 * guard and the server, so that it sees its own cursor, and the client a sealed one.
 */
record Pages(McpStatelessServerHandler server) implements McpStatelessServerHandler {
  private static final int PAGE = 10;

  @Override
  public Mono<JSONRPCResponse> handleRequest(McpTransportContext context, JSONRPCRequest request) {
    return server
        .handleRequest(context, request)
        .map(
            response ->
                response.result() instanceof ListResourcesResult all
                    ? JSONRPCResponse.result(response.id(), page(all.resources(), start(request)))
                    : response);
  }

  private static int start(JSONRPCRequest request) {
    return request.params() instanceof Map<?, ?> params && params.get("cursor") instanceof String cursor
        ? Integer.parseInt(cursor)
        : 0;
  }

  private static ListResourcesResult page(List<Resource> all, int start) {
    // The SDK keeps them in no order.
    List<Resource> sorted =
        all.stream().sorted(Comparator.comparingInt(note -> Integer.parseInt(note.uri().substring("note:///".length())))).toList();
    int end = Math.min(start + PAGE, sorted.size());
    String next = end < sorted.size() ? Integer.toString(end) : null;
    return ListResourcesResult.builder(sorted.subList(start, end)).nextCursor(next).build();
  }

  @Override
  public Mono<Void> handleNotification(McpTransportContext context, JSONRPCNotification notification) {
    return server.handleNotification(context, notification);
  }
}
