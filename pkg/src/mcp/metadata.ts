/** The draft of data-layer sessions: its names, the same at the server and at the client. */

/** The member of `_meta` by which a request has a session, and its result. */
export const SESSION_META = 'io.modelcontextprotocol/session';

/** The member of `_meta` that every request of revision 2026-07-28 has, and none before. */
export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

export const SESSIONS_CREATE = 'sessions/create';
export const SESSIONS_DELETE = 'sessions/delete';

/** What is at {@link SESSION_META} in parameters or a result, whatever it is. */
export function metadataOf(carrier: unknown): unknown {
  return Object(Object(carrier)._meta)[SESSION_META];
}

/** The same carrier with other metadata; whatever else its `_meta` has stays. */
export function withMetadata<T extends object>(carrier: T, metadata: object): T {
  return { ...carrier, _meta: { ...Object(carrier)._meta, [SESSION_META]: metadata } };
}
