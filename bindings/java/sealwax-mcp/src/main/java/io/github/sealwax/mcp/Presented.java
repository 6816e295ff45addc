package io.github.sealwax.mcp;

import io.github.sealwax.Principal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A verified token, as {@link Accept} gets it.
 *
 * @param kind the kind of token: request-state, cursor, handle-state, handle or session
 * @param id the token id in hex digits; the ulid of a handle whose state the server keeps
 * @param principal its principal; null for an anonymous one, and for the cursor of a public page
 * @param expiresAt the time after which no replica opens it, so that its record can be dropped;
 *     null if it never ends
 */
public record Presented(
    String kind, String id, @Nullable Principal principal, @Nullable Instant expiresAt) {}
