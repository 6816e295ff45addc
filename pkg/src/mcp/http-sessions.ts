/** `Mcp-Session-Id` of the revisions to 2025-11-25 without a store: the header is the session. */

import type { AuthInfo } from '@modelcontextprotocol/server';
import { answer } from '../answer.js';
import type { Opened } from '../opened.js';
import type { View } from '../view.js';
import { Caller } from './caller.js';
import type { Checks, Facts } from './checks.js';
import { type Negotiated, negotiatedOf, sealed } from './negotiated.js';
import { whole } from './rewrite.js';

/** A handler of web-standard requests, such as that of `createMcpHandler`. */
export type FetchHandler = (
  request: Request,
  options?: {
    readonly authInfo?: AuthInfo | undefined;
    readonly parsedBody?: unknown;
  },
) => Promise<Response>;

type Options = NonNullable<Parameters<FetchHandler>[1]>;

/** What the author said of these sessions, checked. */
export interface HttpPolicy {
  readonly required: boolean;
  readonly ttl: number | undefined;
}

const HEADER = 'mcp-session-id';

export class HttpSessions {
  readonly #checks: Checks;
  readonly #policy: HttpPolicy;

  constructor(checks: Checks, policy: HttpPolicy) {
    this.#checks = checks;
    this.#policy = policy;
  }

  /** A handler that has sessions, of one that has none. */
  around(handler: FetchHandler): FetchHandler {
    return async (request, options = {}) => {
      // The SDK's own rule of who serves what. Not imported before: the rest does without the SDK.
      const { isLegacyRequest } = await import('@modelcontextprotocol/server');
      const { parsedBody, authInfo } = options;
      const isLegacy = await isLegacyRequest(request, parsedBody);
      if (!isLegacy) return handler(request, options);
      const body = parsedBody ?? (await bodyOf(request));
      const given = body === undefined ? options : { ...options, parsedBody: body };
      const http = { req: request, ...(authInfo && { authInfo }) };
      const caller = new Caller(this.#checks, { http });
      try {
        if (Object(body).method === 'initialize') {
          return await this.#begin(caller, body, await handler(request, given));
        }
        return await this.#go(caller, request, given, handler);
      } finally {
        caller.done();
      }
    };
  }

  /** Answers `initialize`, and with it the session. */
  async #begin(caller: Caller, body: unknown, response: Response): Promise<Response> {
    const { id, params } = Object(body);
    const { messages, again } = await whole(response);
    const result = messages.find((message) => message.id === id)?.result;
    if (result === undefined) return again();
    try {
      const { view } = await caller.who();
      const token = sealed(view, params, result, this.#policy.ttl);
      const begun = again();
      begun.headers.set(HEADER, token);
      return begun;
    } catch (error) {
      this.#checks.unsealed('mcp-session-id', caller, 'session', error);
      const failure = answer('data-layer', { error: null });
      return Response.json({ jsonrpc: '2.0', id, ...failure }, { status: 500 });
    }
  }

  /** Goes on with a session, if there is one to go on with. */
  async #go(
    caller: Caller,
    request: Request,
    options: Options,
    handler: FetchHandler,
  ): Promise<Response> {
    const token = request.headers.get(HEADER);
    const ends = request.method === 'DELETE';
    if (token === null) return this.#without(request, options, handler);
    let negotiated: Negotiated;
    try {
      const opened = await this.#admit(caller, token);
      negotiated = negotiatedOf(opened);
      if (ends) await this.#checks.ended(caller, 'session', facts(opened));
    } catch (error) {
      const refused = this.#checks.refused('mcp-session-id', caller, 'session', error, token);
      return new Response(null, { status: 'httpStatus' in refused ? refused.httpStatus : 500 });
    }
    const version = request.headers.get('mcp-protocol-version') ?? negotiated.protocolVersion;
    if (version !== negotiated.protocolVersion) return new Response(null, { status: 400 });
    // As the SDK's own server answers it.
    if (ends) return new Response(null, { status: 200 });
    const { principal } = await caller.who();
    this.#checks.policy.known.set(request, { negotiated, principal });
    return handler(request, options);
  }

  #without(request: Request, options: Options, handler: FetchHandler): Promise<Response> {
    if (!this.#policy.required && request.method !== 'DELETE') return handler(request, options);
    return Promise.resolve(new Response(null, { status: 400 }));
  }

  #admit(caller: Caller, token: string): Promise<Opened<'session'>> {
    const open = (view: View, token: string) => view.session().open(token);
    return this.#checks.admit(caller, 'session', token, open, facts);
  }
}

function facts({ tokenId: id, expiresAt }: Opened<'session'>): Facts {
  return { id, expiresAt: expiresAt ?? null };
}

/** What is not JSON, the handler refuses. */
async function bodyOf(request: Request): Promise<unknown> {
  if (request.method !== 'POST') return undefined;
  return request
    .clone()
    .json()
    .catch(() => undefined);
}
