/** `Mcp-Session-Id` of the revisions to 2025-11-25 without a store: the header is the session. */

import type { AuthInfo } from '@modelcontextprotocol/server';
import { answer } from '../answer.js';
import { Caller } from './caller.js';
import type { Checks } from './checks.js';
import { PROTOCOL_VERSION } from './metadata.js';
import { type Negotiated, negotiatedOf, sealed } from './negotiated.js';
import { rewritten, whole } from './rewrite.js';
import {
  admitted,
  carrying,
  endedByAnother,
  errorTo,
  facts,
  greeting,
  isMessage,
  isRequest,
  type Message,
  noRequest,
  TERMINATE,
  takenOff,
} from './sep1359.js';

/** A handler of web-standard requests, such as that of `createMcpHandler`. */
export type FetchHandler = (
  request: Request,
  options?: {
    readonly authInfo?: AuthInfo | undefined;
    readonly parsedBody?: unknown;
  },
) => Promise<Response>;

/** What {@link Guard.fetch} is told. */
export interface HttpSessionsOptions {
  /** Whether a request needs its session: true unless set. */
  readonly required?: boolean | undefined;
  /** How many seconds a session lives: 30 days unless set, for a header cannot be renewed. */
  readonly ttl?: number | undefined;
  /**
   * Serves SEP-1359 too: `initialize` is answered with `sessionId` and `sessionTimeout`, messages
   * carry a `sessionId` both ways for a peer that sends one, and `session/terminate` ends it, if
   * there is an `accept` to remember that.
   *
   * As the SEP has it, a session ends once another principal sends its token, if there is an
   * `accept` to remember that: so whoever stole a token can end a session, though not use it. A
   * refreshed credential of the same principal goes on.
   */
  readonly sep1359?: boolean | undefined;
}

/** What the author said of these sessions, checked. */
export interface HttpPolicy {
  readonly required: boolean;
  readonly ttl: number | undefined;
  readonly sep1359: boolean;
}

/** A request, and the session that it came with in its header and in its body. */
interface Came {
  readonly request: Request;
  readonly body: unknown;
  readonly header: string | undefined;
  readonly sent: unknown;
}

const HEADER = 'mcp-session-id';
const MODERN = '2026-07-28';

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
      const came = this.#came(request, options.parsedBody ?? (await bodyOf(request)));
      if (isModern(came)) return handler(request, options);
      const { authInfo } = options;
      const http = { req: came.request, ...(authInfo && { authInfo }) };
      const caller = new Caller(this.#checks, { http });
      const next = () => {
        const { body } = came;
        return handler(
          came.request,
          body === undefined ? options : { ...options, parsedBody: body },
        );
      };
      try {
        return Object(came.body).method === 'initialize'
          ? await this.#begin(caller, came.body, await next())
          : await this.#go(caller, came, next);
      } finally {
        caller.done();
      }
    };
  }

  /** What came, as the handler shall see it. */
  #came(request: Request, body: unknown): Came {
    const header = request.headers.get(HEADER) ?? undefined;
    if (!this.#policy.sep1359 || !isMessage(body))
      return { request, body, header, sent: undefined };
    const { message, sessionId: sent } = takenOff(body);
    if (sent === undefined) return { request, body, header, sent };
    return {
      ...{ body: message, header, sent },
      request: new Request(request, { body: JSON.stringify(message) }),
    };
  }

  /** Answers `initialize`, and with it the session. */
  async #begin(caller: Caller, body: unknown, response: Response): Promise<Response> {
    const { id, params } = Object(body);
    const { messages, again } = await whole(response);
    const result = messages.find(isResult)?.result;
    if (result === undefined) return again();
    try {
      const { view } = await caller.who();
      const begun = sealed(view, params, result, this.#policy.ttl);
      const greet = (message: Message) => (isResult(message) ? greeting(message, begun) : message);
      const greeted = this.#policy.sep1359 ? (await whole(again(), greet)).again() : again();
      greeted.headers.set(HEADER, begun.sessionId);
      return greeted;
    } catch (error) {
      this.#checks.unsealed('mcp-session-id', caller, 'session', error);
      const failure = answer('data-layer', { error: null });
      return Response.json({ jsonrpc: '2.0', id, ...failure }, { status: 500 });
    }
  }

  /** Goes on with a session, if there is one to go on with. */
  async #go(caller: Caller, came: Came, next: () => Promise<Response>): Promise<Response> {
    const { request, header, sent } = came;
    const token = header ?? sent;
    const terminates = this.#policy.sep1359 && Object(came.body).method === TERMINATE;
    if (terminates && !isRequest(came.body as Message)) {
      errorTo(this.#checks, caller, noRequest(), token);
      return status(202);
    }
    if (request.method === 'DELETE' && !this.#checks.remembers) {
      return new Response(null, { status: 405, headers: { allow: 'POST' } });
    }
    if (token === undefined) {
      const needed = this.#policy.required || request.method !== 'POST';
      return needed ? status(400) : next();
    }
    if (header !== undefined && sent !== undefined && header !== sent) return status(400);
    const ends = request.method === 'DELETE' || (terminates && this.#checks.remembers);
    let negotiated: Negotiated;
    try {
      const opened = await admitted(this.#checks, caller, token);
      negotiated = negotiatedOf(opened);
      if (ends) await this.#checks.ended(caller, 'session', facts(opened));
    } catch (error) {
      return this.#refused(caller, came, error, token);
    }
    const version = request.headers.get('mcp-protocol-version') ?? negotiated.protocolVersion;
    if (version !== negotiated.protocolVersion) return status(400);
    if (ends && terminates) {
      const { id } = Object(came.body);
      return Response.json({ jsonrpc: '2.0', id, result: {} });
    }
    if (ends) return status(204);
    const { principal } = await caller.who();
    this.#checks.policy.known.set(request, { negotiated, principal });
    const response = await next();
    // It opened, so it is a text.
    if (sent === undefined) return response;
    return rewritten(response, (message) => carrying(message, sent as string));
  }

  /** A peer that puts the session into its messages is told in a message. */
  async #refused(caller: Caller, came: Came, error: unknown, token: unknown): Promise<Response> {
    const { sep1359, ttl } = this.#policy;
    if (sep1359) await endedByAnother(this.#checks, caller, error, token, ttl);
    const { id } = Object(came.body);
    if (came.sent !== undefined && id !== undefined) {
      const refused = errorTo(this.#checks, caller, error, came.sent);
      return Response.json({ jsonrpc: '2.0', id, ...refused });
    }
    const refused = this.#checks.refused('mcp-session-id', caller, 'session', error, token);
    return status('httpStatus' in refused ? refused.httpStatus : 500);
  }
}

/** The answer to the one request: whatever else there is has a method. */
function isResult({ result }: Message): boolean {
  return result !== undefined;
}

function status(status: number): Response {
  return new Response(null, { status });
}

/**
 * Whether a request is of revision 2026-07-28 or later, as the SDK tells them apart: by what its
 * message claims, or by its header. Whatever else there is needs a session.
 */
function isModern({ request, body }: Came): boolean {
  if (request.method !== 'POST' || !isMessage(body)) return false;
  const { method, params } = body;
  if (typeof method !== 'string' || method === 'initialize') return false;
  const { _meta } = Object(params);
  if (isMessage(_meta) && PROTOCOL_VERSION in _meta) return true;
  const version = request.headers.get('mcp-protocol-version');
  return version !== null && version >= MODERN;
}

/** As much as the SDK reads of a body. */
const MOST = 4 * 1024 * 1024;

/** The body, as JSON. What is none, or too much, the handler refuses. */
async function bodyOf(request: Request): Promise<unknown> {
  const reader = request.clone().body?.getReader();
  if (reader === undefined) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    // Not waited for: the other half of the stream is not read yet.
    if (size > MOST) return void reader.cancel().catch(() => {});
    text += decoder.decode(read.value, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    return undefined;
  }
}
