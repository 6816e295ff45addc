/** A listener of Node's HTTP around a handler of web-standard requests. */

import type { AuthInfo } from '../sdk.js';
import { type FetchHandler, MAX_BYTES } from './http-sessions.js';

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
  on(event: string, listener: (chunk: Uint8Array) => void): unknown;
  pause(): unknown;
}

/** A response of Node's HTTP. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  setHeader(name: string, value: string): unknown;
  setHeaders(headers: Headers): unknown;
  flushHeaders(): void;
  write(chunk: Uint8Array): boolean;
  end(chunk?: string): unknown;
  destroy(): unknown;
  on(event: string, listener: () => void): unknown;
}

/** A listener for `http.createServer`, or a handler of Express. */
export type NodeListener = (request: NodeRequest, response: NodeResponse) => Promise<void>;

/** Makes a listener of a handler. `failed` gives the response to what the handler throws. */
export function listenerOf(
  handler: FetchHandler,
  failed: (cause: unknown) => Response,
): NodeListener {
  return async (from, to) => {
    const gone = new AbortController();
    to.on('close', () => {
      if (!to.writableEnded) gone.abort();
    });
    try {
      await send(await answered(from, handler, gone.signal), to, gone.signal);
    } catch (cause) {
      if (to.headersSent || gone.signal.aborted) to.destroy();
      else await send(failed(cause), to, gone.signal);
    }
  };
}

async function answered(
  from: NodeRequest,
  handler: FetchHandler,
  gone: AbortSignal,
): Promise<Response> {
  const body = from.method === 'POST' ? await bodyOf(from) : {};
  const request = requestOf(from, body, gone);
  if (request === undefined) return new Response(null, { status: 400 });
  const { message: parsedBody } = body;
  const { auth: authInfo } = from;
  return handler(request, { ...(authInfo && { authInfo }), ...(parsedBody && { parsedBody }) });
}

/** A body, and its message if it is one: the handler refuses any other. */
interface Body {
  readonly message?: object;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** Reads a body once. What is over the limit is left. */
async function bodyOf(from: NodeRequest): Promise<Body> {
  const { body: message } = from;
  if (isObject(message)) return { message, body: JSON.stringify(message) };
  const body = await bytesOf(from);
  if (body.length > MAX_BYTES) return { body };
  try {
    const message: unknown = JSON.parse(new TextDecoder().decode(body));
    return isObject(message) ? { message, body } : { body };
  } catch {
    return { body };
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function bytesOf(from: NodeRequest): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  return new Promise((read, failed) => {
    const done = () => {
      const all = new Uint8Array(size);
      let at = 0;
      for (const chunk of chunks) {
        all.set(chunk, at);
        at += chunk.length;
      }
      read(all);
    };
    from.on('data', (chunk) => {
      if (size > MAX_BYTES) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_BYTES) return;
      from.pause();
      done();
    });
    from.on('end', done);
    from.on('error', failed);
    from.on('aborted', () => failed(new Error('expected a whole body, found a part')));
  });
}

/**
 * A request whose body is made only for a handler that reads it, and does not pass the message on: that takes longer than
 * all else of a request.
 */
class LazyRequest extends Request {
  readonly #text: BodyInit;
  #made: Request | undefined;

  constructor(url: URL, init: RequestInit, text: BodyInit) {
    super(url, init);
    this.#text = text;
  }

  get #whole(): Request {
    const { url, method, headers, signal } = this;
    this.#made ??= new Request(url, { method, headers, signal, body: this.#text });
    return this.#made;
  }

  override get body() {
    return this.#whole.body;
  }
  override get bodyUsed() {
    return this.#made?.bodyUsed === true;
  }
  override clone() {
    return this.#whole.clone();
  }
  override text() {
    return this.#whole.text();
  }
  override json() {
    return this.#whole.json();
  }
  override arrayBuffer() {
    return this.#whole.arrayBuffer();
  }
  override bytes() {
    return this.#whole.bytes();
  }
  override blob() {
    return this.#whole.blob();
  }
  override formData() {
    return this.#whole.formData();
  }
}

/** Returns the request; `undefined` for an address that is none. */
function requestOf(
  { method = 'GET', url = '/', originalUrl = url, headers: given }: NodeRequest,
  { message, body }: Body,
  signal: AbortSignal,
): Request | undefined {
  const headers = new Headers();
  for (const name in given) {
    // HTTP/2 has the method and the address among them.
    if (!name.startsWith(':')) headers.set(name, `${given[name]}`);
  }
  const host = headers.get('host') ?? given[':authority'] ?? 'localhost';
  try {
    // Of two slashes the second would begin another host, were it relative to this one.
    const address = new URL(`http://${host}${originalUrl}`);
    const init = { method, headers, signal };
    if (body === undefined) return new Request(address, init);
    return message ? new LazyRequest(address, init, body) : new Request(address, { ...init, body });
  } catch {
    return undefined;
  }
}

/** Sends a response: events one by one, as fast as the client reads them. */
async function send(response: Response, to: NodeResponse, gone: AbortSignal): Promise<void> {
  // The client left while the handler worked: nobody else would end a stream.
  if (gone.aborted) return response.body?.cancel();
  to.statusCode = response.status;
  to.setHeaders(response.headers);
  // What is left of the body is not read.
  if (response.status === 413) to.setHeader('connection', 'close');
  if (response.body === null) return void to.end();
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return void to.end(await response.text());
  }
  to.flushHeaders();
  const reader = response.body.getReader();
  let goOn = () => {};
  to.on('drain', () => goOn());
  const left = () => {
    goOn();
    reader.cancel().catch(() => {});
  };
  gone.addEventListener('abort', left, { once: true });
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    if (to.write(read.value) || gone.aborted) continue;
    await new Promise<void>((later) => {
      goOn = later;
    });
  }
  to.end();
}
