/** A listener of Node's HTTP around a handler of web-standard requests. */

import type { Content } from '../engine.js';
import type { AuthInfo } from '../sdk-types.js';
import { type FetchHandler, readers } from './http.js';
import { headersOf, isTooLarge, joined, ReadRequest, written } from './request.js';

/** A request of Node's HTTP, or of Express and others that stand on it. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly originalUrl?: string | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly rawHeaders: string[];
  /** Who is signed in, such as `requireBearerAuth` found it. */
  readonly auth?: AuthInfo | undefined;
  /** The message, if a parser of JSON stands in front. */
  body?: unknown;
  /** Whether somebody has read the body to its end. */
  readonly readableEnded?: boolean | undefined;
  on(event: string, listener: (piece: Uint8Array) => void): unknown;
  pause(): unknown;
}

/** A response of Node's HTTP. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string | string[]): unknown;
  /** That of HTTP/2 has none. */
  flushHeaders?(): void;
  write(chunk: Uint8Array): boolean;
  end(chunk?: string): unknown;
  destroy(): unknown;
  on(event: string, listener: (given?: unknown) => void): unknown;
}

/** With a `drain` of this, another writer has room again. */
export const OTHER = Symbol('other');

/** A listener for `http.createServer`, or a handler of Express. */
export type NodeListener = (request: NodeRequest, response: NodeResponse) => Promise<void>;

/** Makes a listener of a handler. `failed` gives the response to what the handler throws. */
export function listenerOf(
  handler: FetchHandler,
  failed: (cause: unknown) => Promise<Response>,
): NodeListener {
  return async (from, to) => {
    const gone = new AbortController();
    to.on('close', () => {
      if (!to.writableEnded) gone.abort();
    });
    const send = sender(to, gone.signal);
    try {
      await send(await answered(from, to, handler, gone.signal));
    } catch (cause) {
      try {
        // What began is ended, and nobody is answered who left.
        const response = gone.signal.aborted ? undefined : await failed(cause);
        if (response === undefined || to.headersSent) to.destroy();
        else await send(response);
      } catch {
        to.destroy();
      }
    }
  };
}

async function answered(
  from: NodeRequest,
  to: NodeResponse,
  handler: FetchHandler,
  gone: AbortSignal,
): Promise<Response> {
  const content = from.method === 'POST' ? await contentOf(from) : undefined;
  // What is left of it is not read.
  if (isTooLarge(content)) to.setHeader('connection', 'close');
  const request = requestOf(from, content, gone);
  if (request === undefined) return new Response(null, { status: 400 });
  const isRead = request instanceof ReadRequest && !readers.has(handler);
  const parsedBody = isRead ? request.message : undefined;
  const { auth: authInfo } = from;
  return handler(request, { ...(authInfo && { authInfo }), ...(parsedBody && { parsedBody }) });
}

/** Reads a body once, unless another parser has. What is over the limit is left. */
function contentOf(from: NodeRequest): Content | Promise<Content> {
  const { body, readableEnded } = from;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (typeof body === 'object' && body !== null) return written(body);
  // Nothing would come any more.
  if (readableEnded) return body === undefined ? '' : written(body);
  const pieces: Uint8Array[] = [];
  let size = 0;
  return new Promise((read, failed) => {
    const done = () => read(joined(pieces, size));
    from.on('data', (piece) => {
      if (isTooLarge({ length: size })) return;
      pieces.push(piece);
      size += piece.length;
      if (!isTooLarge({ length: size })) return;
      from.pause();
      done();
    });
    from.on('end', done);
    from.on('error', failed);
    from.on('aborted', () => failed(new Error('expected a whole body, found a part')));
  });
}

/** Returns the request; `undefined` for an address that is none. */
function requestOf(
  { method = 'GET', url = '/', originalUrl = url, headers: given }: NodeRequest,
  content: Content | undefined,
  signal: AbortSignal,
): Request | undefined {
  const headers = headersOf(given);
  const host = headers.get('host') ?? given[':authority'] ?? 'localhost';
  try {
    // Of two slashes the second would begin another host, were it relative to this one.
    const address = new URL(`http://${host}${originalUrl}`);
    const init = { method, headers, signal };
    if (content === undefined) return new Request(address, init);
    return new ReadRequest(address, init, content);
  } catch {
    return undefined;
  }
}

/**
 * Returns what sends a response, by the methods that Node's has now: JSON as a whole, all else piece by piece, as fast as the
 * client reads it.
 */
function sender(to: NodeResponse, gone: AbortSignal): (response: Response) => Promise<void> {
  const { flushHeaders, write, end } = to;
  const finish = (text?: string) => {
    // In HTTP/2 it calls `write`.
    to.write = write;
    end.call(to, text);
  };
  return async (response) => {
    // The client left while the handler worked: nobody else would end a stream.
    if (gone.aborted) return response.body?.cancel();
    to.statusCode = response.status;
    // HTTP/2 has no `setHeaders`.
    for (const [name, value] of response.headers) to.setHeader(name, value);
    const cookies = response.headers.getSetCookie();
    if (cookies.length > 0) to.setHeader('set-cookie', cookies);
    if (response.body === null) return finish();
    const isJson = response.headers.get('content-type')?.startsWith('application/json');
    if (isJson) return finish(await response.text());
    flushHeaders?.call(to);
    const reader = response.body.getReader();
    let goOn = () => {};
    to.on('drain', (of) => of === OTHER || goOn());
    const left = () => {
      goOn();
      reader.cancel().catch(() => {});
    };
    gone.addEventListener('abort', left, { once: true });
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (write.call(to, read.value) || gone.aborted) continue;
      await new Promise<void>((later) => {
        goOn = later;
      });
    }
    finish();
  };
}
