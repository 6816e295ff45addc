package io.github.sealwax.mcp;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What client and server negotiated when a session began.
 *
 * @param protocolVersion the revision of the protocol, a date
 * @param clientCapabilities what the client can do
 * @param clientInfo its name and version
 * @param serverCapabilities what the server can do
 * @param id the id of the session's token, for logs
 * @param expiresAt the session's end; null for never
 */
public record Negotiated(
    String protocolVersion,
    Map<String, Object> clientCapabilities,
    Map<String, Object> clientInfo,
    Map<String, Object> serverCapabilities,
    String id,
    @Nullable Instant expiresAt) {}
