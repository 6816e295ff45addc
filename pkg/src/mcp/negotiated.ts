import { SealwaxError } from '../error.js';
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

/** Seals what a request and its result say, as the token of the session. */
export function sealed(
  view: View,
  params: unknown,
  result: unknown,
  ttl: number | undefined,
): string {
  const { capabilities: clientCapabilities = {}, clientInfo } = Object(params);
  const { protocolVersion, capabilities: serverCapabilities = {} } = Object(result);
  const { name, version } = Object(clientInfo);
  const negotiated: Negotiated = {
    ...{ protocolVersion, clientCapabilities, clientInfo: { name, version }, serverCapabilities },
  };
  const token = view.session().sealJson(negotiated, { ttl });
  if (token.length <= MOST) return token;
  const message = `Mcp-Session-Id: expected at most ${MOST} characters, found ${token.length}`;
  throw new SealwaxError('too_large', message, false);
}

/** What a token opened to, if it is what {@link sealed} seals. */
export function negotiatedOf(opened: Opened<'session'>): Negotiated {
  const negotiated = opened.json<Negotiated>();
  if (typeof Object(negotiated).protocolVersion === 'string') return negotiated;
  throw new SealwaxError('malformed', 'expected what initialize settled', true);
}
