/**
 * The guard of an MCP server on the official Java SDK: seals what leaves for a client, and opens
 * and checks what comes back.
 */
@NullMarked
package io.github.sealwax.mcp;

import org.jspecify.annotations.NullMarked;
