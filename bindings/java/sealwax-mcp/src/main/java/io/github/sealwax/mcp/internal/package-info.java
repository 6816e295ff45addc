/** The guard's own: calls into the engine, and into the author's functions. */
@NullMarked
package io.github.sealwax.mcp.internal;

import org.jspecify.annotations.NullMarked;
