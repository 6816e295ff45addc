/** `Mcp-Session-Id` without a store: the header holds the session. */

import type { ReplyStep, Step } from '../../documents.js';
import { Caller } from '../caller.js';
import { nameOf } from '../cause.js';
import type { Content, Engine, Exchange } from '../engine.js';
import { referenced } from '../handler/reference.js';
import { reportError } from '../hooks.js';
import type { Policy } from '../options.js';
import type { AuthInfo } from '../sdk-types.js';
import { bytesOf, isTooLarge, ReadRequest, textOf, written } from './request.js';

/**
 * A handler of web-standard requests, such as `fetch` of `createMcpHandler`, or `handleRequest` of a transport. It takes the
 * message as `parsedBody`.
 */
export type FetchHandler = (
  request: Request,
  options?: { readonly authInfo?: AuthInfo; readonly parsedBody?: unknown },
) => Promise<Response>;

const VERSION = 'mcp-protocol-version';

/** The handlers that read the bytes of a {@link ReadRequest} by themselves. */
export const readers = new WeakSet<FetchHandler>();

/** Wraps a stateless handler into one with sessions. */
export function withSessions(handler: FetchHandler, policy: Policy, engine: Engine): FetchHandler {
  const wrapped: FetchHandler = async (request, options = {}) => {
    const { authInfo } = options;
    const caller = new Caller(policy, { http: { req: request, ...(authInfo && { authInfo }) } });
    let content = contentOf(request, options.parsedBody);
    const whole = isTooLarge(content) ? undefined : content;
    const exchange = engine.http(request, whole, typeof content === 'string');
    const references: string[] = [];
    let isSent = true;
    try {
      let step = await caller.drive(exchange);
      if (step.step === 'ask') {
        content ??= await bytesOf(request.clone());
        const body = isTooLarge(content) ? undefined : content;
        step = await caller.drive(exchange, exchange.body(body));
      }
      if (step.step !== 'deliver') return replied(step, exchange.text);
      const { negotiated, id: sessionId, version, withinMs } = step;
      const { principal } = caller;
      const { text } = exchange;
      let message = text === undefined ? options.parsedBody : JSON.parse(text);
      message ??= content && JSON.parse(textOf(content));
      if (negotiated || principal) {
        const settled = negotiated && { negotiated: JSON.parse(negotiated), sessionId };
        const named = (reference: string) => references.push(reference);
        message = referenced(message, { ...settled, principal, withinMs }, policy.known, named);
      }
      const given = message === undefined ? options : { ...options, parsedBody: message };
      const { signal } = request;
      const late = (cause: unknown) => {
        if (cause !== signal.reason) reportError(policy, { message: foundOf(cause) }, cause);
      };
      const coming = handler(changed(request, version, text), given);
      const response = await whileWaiting(signal, coming, late);
      if (!(step.report || step.addSessionId) || !exchange.answer(response)) return response;
      // What the guard itself does with a client that left is nobody's fault.
      if (step.report)
        return await whileWaiting(signal, reported(caller, exchange, response), () => {});
      // Throws if the body was read.
      const passed = withBody(response, passing(response.body, exchange));
      isSent = false;
      return passed;
    } catch (cause) {
      // Nobody is there to read it.
      if (request.signal.aborted) return new Response(null);
      return await broken(caller, exchange, cause);
    } finally {
      // The SDK hands the message over before it gives the response.
      for (const reference of references) policy.known.delete(reference);
      if (isSent) exchange.free();
    }
  };
  const served: FetchHandler = (request, options) =>
    wrapped(request, options).catch((cause) => failure(policy, cause));
  readers.add(served);
  return served;
}

/** Waits for a response while its client does. Some handlers never give one to a client that left; others throw, `late`. */
function whileWaiting(
  signal: AbortSignal,
  response: Promise<Response>,
  late: (cause: unknown) => void,
): Promise<Response> {
  const coming = Promise.resolve(response);
  return new Promise((resolve, reject) => {
    const left = () => {
      reject(signal.reason);
      coming.then(({ body }) => body?.cancel()).catch(late);
    };
    signal.addEventListener('abort', left, { once: true });
    if (signal.aborted) left();
    const over = () => signal.removeEventListener('abort', left);
    coming.then(resolve, reject).then(over);
  });
}

/** Reports what a handler without sessions threw, and returns the response. */
export async function failure(policy: Policy, cause: unknown): Promise<Response> {
  const caller = new Caller(policy);
  const exchange = policy.engine.http({ method: '', headers: new Headers() });
  try {
    const step = await caller.drive(exchange);
    if (step.step !== 'deliver') return replied(step, exchange.text);
    return await broken(caller, exchange, cause);
  } finally {
    exchange.free();
  }
}

function foundOf(cause: unknown): string {
  return `handler: expected a response, found ${nameOf(cause)}`;
}

async function broken(caller: Caller, exchange: Exchange, cause: unknown): Promise<Response> {
  const broke = foundOf(cause);
  return replied(await caller.drive(exchange, exchange.on({ broke }), cause), exchange.text);
}

/** Returns a body that is there already: not of the message that somebody put in its place. */
function contentOf(request: Request, message: unknown): Content | undefined {
  const isRead = request instanceof ReadRequest;
  if (isRead && (message === undefined || message === request.message)) return request.content;
  return message === undefined ? undefined : written(message);
}

/** Returns the request with the header of the negotiated version, and with another body. */
function changed(request: Request, version: string | undefined, body: string | undefined): Request {
  if (version === undefined && body === undefined) return request;
  const isOurs = request instanceof ReadRequest;
  const headers = isOurs ? request.headers : new Headers(request.headers);
  if (version !== undefined) headers.set(VERSION, version);
  if (body !== undefined) headers.delete('content-length');
  if (!isOurs) return new Request(request, { headers, ...(body !== undefined && { body }) });
  request.content = body ?? request.content;
  return request;
}

/** Returns the response whose result was reported. */
async function reported(caller: Caller, exchange: Exchange, response: Response): Promise<Response> {
  exchange.piece(new Uint8Array(await response.arrayBuffer()));
  const step = await caller.drive(exchange, exchange.answered());
  if (step.step !== 'respond') return replied(step, exchange.text);
  const left = withBody(response, exchange.text);
  for (const [name, value] of Object.entries(step.headers ?? {})) left.headers.set(name, value);
  return left;
}

/** Returns a body whose messages are changed as they pass, and frees the exchange with its end. */
function passing(
  body: ReadableStream<Uint8Array> | null,
  exchange: Exchange,
): ReadableStream<Uint8Array> {
  const reader = body?.getReader();
  const encoder = new TextEncoder();
  return new ReadableStream({
    async pull(to) {
      let isOver = true;
      try {
        for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
          const text = exchange.piece(read.value);
          if (text === undefined) continue;
          isOver = false;
          return to.enqueue(encoder.encode(text));
        }
        exchange.answered();
        if (exchange.text) to.enqueue(encoder.encode(exchange.text));
        to.close();
      } finally {
        if (isOver) exchange.free();
      }
    },
    cancel(reason) {
      exchange.free();
      return reader?.cancel(reason);
    },
  });
}

/** Returns a response with another body. */
function withBody(
  { status, statusText, headers }: Response,
  body: ReadableStream<Uint8Array> | string | undefined,
): Response {
  const same = new Headers(headers);
  same.delete('content-length');
  return new Response(body ?? null, { status, statusText, headers: same });
}

function replied(step: Step, body: string | undefined): Response {
  const { status, allow } = step as ReplyStep;
  const headers = { ...(allow && { allow }), ...(body && { 'content-type': 'application/json' }) };
  return new Response(body ?? null, { ...(status && { status }), headers });
}
