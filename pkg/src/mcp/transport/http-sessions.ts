/** `Mcp-Session-Id` of the revisions up to 2025-11-25 without a store: the header holds the session. */

import { answer } from '../../answer.js';
import type { Reply } from '../../documents.js';
import { Caller } from '../caller.js';
import type { Engine, Exchange } from '../engine.js';
import { newReference, withReference } from '../handler/reference.js';
import { reportError } from '../hooks.js';
import type { Known, Policy } from '../policy.js';
import type { AuthInfo, Params } from '../sdk.js';
import {
  addSessionId,
  begun,
  isMessage,
  isModern,
  isRequest,
  stripSessionId,
  withChanges,
} from './messages.js';
import { edited, rewritten, withBody } from './rewrite.js';

/**
 * A handler of web-standard requests, such as `fetch` of `createMcpHandler`, or `handleRequest` of a transport. It takes the
 * message as `parsedBody`.
 */
export type FetchHandler = (
  request: Request,
  options?: {
    readonly authInfo?: AuthInfo;
    readonly parsedBody?: unknown;
  },
) => Promise<Response>;

/** Settings of {@link Guard.fetch}. */
export interface HttpSessionsOptions {
  /** Whether a request needs its session: true by default. */
  readonly required?: boolean | undefined;
  /** The lifetime of a session in seconds: 30 days by default, because a header cannot be renewed. */
  readonly ttl?: number | undefined;
  /**
   * How many seconds a session may be idle, which needs a `ledger`: up to its `ttl` by default. Use is recorded
   * at most ten times in that time, so that a session may end up to a tenth earlier.
   */
  readonly idle?: number | undefined;
  /**
   * `'serve'`: a request whose session is lost (it has expired, its key was retired, or it is of another audience) is served as
   * one without a session, and the log says so: for clients that begin no session after a 404. By default it is refused. Another
   * user's session, and one that was ended, are refused always.
   */
  readonly onLost?: 'serve' | 'refuse' | undefined;
  /**
   * Serves SEP-1359 too: the response to `initialize` has `sessionId` and `sessionTimeout`, messages carry a
   * `sessionId` in both directions if the client sends one, and `session/terminate` ends the session if there
   * is a `ledger` to record that.
   *
   * As the SEP requires, a session ends when another principal sends its token, if there is a `ledger`
   * to record that: someone who stole a token can end the session but not use it. A refreshed
   * credential of the same principal keeps the session.
   */
  readonly sep1359?: boolean | undefined;
}

const HEADER = 'mcp-session-id';
const VERSION = 'mcp-protocol-version';

/** Wraps a stateless handler into one with sessions. */
export function withSessions(
  handler: FetchHandler,
  policy: Policy,
  engine: Engine,
  sep1359: boolean,
): FetchHandler {
  const served: FetchHandler = async (request, options = {}) => {
    const body = options.parsedBody ?? (await bodyOf(request));
    const unreadable = body === NO_JSON;
    const came = unreadable ? undefined : body;
    const { message, messageSessionId } =
      sep1359 && isMessage(came) ? stripSessionId(came) : { message: came };
    const { authInfo } = options;
    const http = { req: request, ...(authInfo && { authInfo }) };
    const caller = new Caller(policy, { http }, Object(message));
    const header = (name: string) => request.headers.get(name) ?? undefined;
    const exchange = begun(engine, came, message, {
      http: request.method,
      modern: request.method === 'POST' && isModern(message, request.headers.get(VERSION)),
      ...{ version: header(VERSION), header: header(HEADER), messageSessionId, unreadable },
    });
    const references: string[] = [];
    try {
      const step = await caller.drive(exchange);
      if (step.step === 'reply') return replied(step, message);
      if (step.step !== 'deliver') return new Response(null, { status: 202 });
      const { negotiated, id: sessionId, addSessionId: added, report, version, withinMs } = step;
      const { principal } = caller;
      const settled = negotiated
        ? { negotiated: JSON.parse(negotiated), sessionId }
        : principal && {};
      const known = settled && { ...settled, principal, withinMs };
      const named = known ? referenced(message, known, policy, references) : message;
      const next = version ? versioned(request, version) : request;
      const parsed = named === undefined ? options : { ...options, parsedBody: named };
      const response = await handler(next, parsed);
      if (report) return await initialized(caller, exchange, message, response);
      return added ? rewritten(response, (one) => addSessionId(one, added)) : response;
    } finally {
      // The SDK hands the message over before it gives the response.
      for (const reference of references) policy.known.delete(reference);
      exchange.free();
    }
  };
  return async (request, options) => {
    try {
      return await served(request, options);
    } catch (cause) {
      return failure(policy, 'fetch', cause);
    }
  };
}

/** Reports what a handler threw, and returns the response. */
export function failure(policy: Policy, by: string, cause: unknown): Response {
  reportError(policy, `${by}: expected a response of the handler, found an error`, cause);
  const { error } = answer('data-layer', { error: cause }) as Pick<Reply, 'error'>;
  return replied({ status: 500, error }, undefined);
}

/** Tells the guard at the SDK's messages what is known of a message, or of those of a batch, by a reference in each. */
function referenced(came: unknown, known: Known, policy: Policy, references: string[]): unknown {
  if (Array.isArray(came)) return came.map((one) => referenced(one, known, policy, references));
  if (!isMessage(came) || !isRequest(came)) return came;
  const reference = newReference();
  policy.known.set(reference, known);
  references.push(reference);
  return { ...came, params: withReference(came.params as Params | undefined, reference) };
}

/** Returns the request with the header of the negotiated version. The handler has its body already. */
function versioned(request: Request, version: string): Request {
  const headers = new Headers(request.headers);
  headers.set(VERSION, version);
  return new Request(request, { headers });
}

/** Adds the session to the response to `initialize`. */
async function initialized(
  caller: Caller,
  exchange: Exchange,
  message: unknown,
  response: Response,
): Promise<Response> {
  const text = await response.text();
  let result: unknown;
  edited(response, text, (one) => {
    // Any other message is a notification or a request.
    result ??= one.result;
    return one;
  });
  if (result === undefined) return withBody(response, text);
  const step = await caller.drive(exchange, exchange.on({ result: {} }, JSON.stringify(result)));
  if (step.step === 'reply') return replied(step, message);
  const { set, headers } = step.step === 'respond' ? step : {};
  const left = set ? edited(response, text, (one) => withChanges(one, set)) : text;
  const next = withBody(response, left);
  for (const [name, value] of Object.entries(headers ?? {})) next.headers.set(name, value);
  return next;
}

function replied(
  { status, allow, error, done }: Pick<Reply, 'status' | 'allow' | 'error' | 'done'>,
  message: unknown,
): Response {
  const init = { status: status ?? 200, headers: allow ? { allow } : {} };
  if (!error && !done) return new Response(null, init);
  const { id = null } = Object(message);
  return Response.json({ jsonrpc: '2.0', id, ...(error ? { error } : { result: {} }) }, init);
}

/** The largest body that the SDK reads, in bytes. */
export const MAX_BYTES = 4 * 1024 * 1024;

/** Stands for a body that is no JSON. */
const NO_JSON = Symbol('no JSON');

/** Parses the body as JSON; `undefined` if there is none, or it is too large, which the handler refuses. */
async function bodyOf(request: Request): Promise<unknown> {
  const reader = request.clone().body?.getReader();
  if (reader === undefined) return undefined;
  const decoder = new TextDecoder();
  let text = '';
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    size += read.value.length;
    // Not awaited: the other branch of the stream is not read yet.
    if (size > MAX_BYTES) return void reader.cancel().catch(() => {});
    text += decoder.decode(read.value, { stream: true });
  }
  try {
    return JSON.parse(text + decoder.decode());
  } catch {
    return NO_JSON;
  }
}
