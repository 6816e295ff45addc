/** The bytes of HTTP, handed to the engine. */
@NullMarked
package io.github.sealwax.mcp.internal.transport;

import org.jspecify.annotations.NullMarked;
