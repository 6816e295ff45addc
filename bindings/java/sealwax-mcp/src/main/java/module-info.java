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
  requires static transitive org.jspecify;
  // Not transitive: a module that requires this one would not compile without them.
  requires static io.opentelemetry.api;
  requires static jakarta.servlet;
  requires static lettuce.core;
  requires org.reactivestreams;
  requires org.slf4j;
  requires reactor.core;

  exports io.github.sealwax.mcp;
}
