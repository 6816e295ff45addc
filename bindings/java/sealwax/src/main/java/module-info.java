/**
 * Seals the state that an MCP (Model Context Protocol) server hands to its clients.
 *
 * @see io.github.sealwax.Codec
 */
@SuppressWarnings("module") // Two of ours, which depend on this one.
module io.github.sealwax {
  requires run.endive.runtime;
  requires tools.jackson.core;
  requires static transitive org.jspecify;

  exports io.github.sealwax;
  exports io.github.sealwax.testing;
  exports io.github.sealwax.internal to
      io.github.sealwax.clibrary,
      io.github.sealwax.mcp;

  uses io.github.sealwax.internal.InstanceProvider;
}
