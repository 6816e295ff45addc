import { SealwaxError } from '../error.js';
import { json } from '../input.js';
import type { Opened } from '../opened.js';
import type { View } from '../view.js';

/** What `initialize` settled, for every request of the session. */
export interface Negotiated {
  readonly protocolVersion: string;
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly serverCapabilities: Readonly<Record<string, unknown>>;
}

/** What a header may have; proxies refuse more sooner or later. */
const MOST = 4096;

/** The token of a session, and how many seconds it lives. */
export interface Begun {
  readonly sessionId: string;
  readonly sessionTimeout?: number;
}

/** Seals what a request and its result say, as the token of the session. */
export function sealed(
  view: View,
  params: unknown,
  result: unknown,
  ttl: number | undefined,
): Begun {
  const { capabilities: clientCapabilities = {}, clientInfo } = Object(params);
  const { protocolVersion, capabilities: serverCapabilities = {} } = Object(result);
  const { name, version } = Object(clientInfo);
  const negotiated: Negotiated = {
    ...{ protocolVersion, clientCapabilities, clientInfo: { name, version }, serverCapabilities },
  };
  const payload = new TextEncoder().encode(json('negotiated', negotiated));
  const { token: sessionId, opened } = view.session().sealToken(payload, { ttl });
  const { issuedAt, expiresAt } = opened;
  if (sessionId.length <= MOST) {
    return { sessionId, ...(expiresAt && { sessionTimeout: expiresAt - issuedAt }) };
  }
  const message = `Mcp-Session-Id: expected at most ${MOST} characters, found ${sessionId.length}`;
  throw new SealwaxError('too_large', message, false);
}

/** What a token opened to, if it is what {@link sealed} seals. */
export function negotiatedOf(opened: Opened<'session'>): Negotiated {
  const negotiated = opened.json<Negotiated>();
  if (typeof Object(negotiated).protocolVersion === 'string') return negotiated;
  throw new SealwaxError('malformed', 'expected what initialize settled', true);
}
