/** One message at the SDK's handlers, and where the guard is put into the SDK. */
@NullMarked
package io.github.sealwax.mcp.internal.handler;

import org.jspecify.annotations.NullMarked;
