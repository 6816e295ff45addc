package io.github.sealwax.mcp;

import io.github.sealwax.Principal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What happened to a token that was not refused.
 *
 * @param event opened, sealed, ended or revoked
 * @param kind the kind of token: request-state, cursor, handle-state, handle, link or session
 * @param took the time since its message, or the handler's result or call, came to the guard, with
 *     what the author's functions and the ledger took
 * @param keyId the id of the key, 8 hex digits; null for a handle whose state the server keeps
 * @param id the token id or the ulid, in hex digits
 * @param age how long ago an opened one was issued
 * @param principal the caller; null for an anonymous one
 * @param method the method of the message
 * @param isCustomMethod whether the method is none of the protocol's: a client may have made it up
 * @param target the tool, prompt or resource, as the client named it
 */
public record TokenEvent(
    String event,
    String kind,
    Duration took,
    @Nullable String keyId,
    @Nullable String id,
    @Nullable Duration age,
    @Nullable Principal principal,
    @Nullable String method,
    boolean isCustomMethod,
    @Nullable String target) {}
