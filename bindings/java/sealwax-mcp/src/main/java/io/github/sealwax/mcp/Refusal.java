package io.github.sealwax.mcp;

import io.github.sealwax.Principal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a guard refused, for the server's log and metrics: the client never hears it. It holds no
 * token, no payload and no key.
 *
 * @param code the stable code, such as {@code expired}; docs/refusals.md has them all
 * @param kind the kind of what was refused: request-state, cursor, handle-state, handle, link or
 *     session
 * @param message the reason, for the operator
 * @param isError whether it is a fault of the service or its store
 * @param time when it was refused
 * @param id the id of the token or the ulid; unverified unless the token opened
 * @param principal the caller; null if not resolved, or anonymous
 * @param method the method of the message
 * @param isCustomMethod whether the method is none of the protocol's: a client may have made it up
 * @param target the tool, prompt or resource; a client may have invented it
 */
public record Refusal(
    String code,
    String kind,
    String message,
    boolean isError,
    Instant time,
    @Nullable String id,
    @Nullable Principal principal,
    @Nullable String method,
    boolean isCustomMethod,
    @Nullable String target) {}
