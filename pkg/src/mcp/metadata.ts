/** Names from the draft of data-layer sessions. */

/** The member of `_meta` that carries a session, in requests and results. */
const SESSION_META = 'io.modelcontextprotocol/session';

/** The member of `_meta` that every request has since revision 2026-07-28. */
export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

/** The member of `_meta` with what a client can do, since that revision. */
export const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Returns the value of {@link SESSION_META} in parameters or a result, of any type. */
export function metadataOf(carrier: unknown): unknown {
  return Object(Object(carrier)._meta)[SESSION_META];
}
