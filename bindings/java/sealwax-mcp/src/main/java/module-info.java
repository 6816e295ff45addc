/**
 * The guard of an MCP server on the official Java SDK.
 *
 * @see io.github.sealwax.mcp.Guard
 */
@SuppressWarnings({
  "requires-automatic",
  "requires-transitive-automatic"
}) // The SDK's jars have no descriptors.
module io.github.sealwax.mcp {
  requires transitive io.github.sealwax;
  requires transitive io.modelcontextprotocol.sdk.mcp.core;
  requires static transitive io.opentelemetry.api;
  requires static transitive jakarta.servlet;
  requires static transitive lettuce.core;
  requires static transitive org.jspecify;
  requires org.reactivestreams;
  requires org.slf4j;
  requires reactor.core;

  exports io.github.sealwax.mcp;
}
