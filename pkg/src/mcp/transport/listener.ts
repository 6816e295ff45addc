/** Sessions for a listener of Node's HTTP, such as a handler of Express around a transport of `@modelcontextprotocol/sdk`. */

import type { FetchHandler } from './http.js';
import { listenerOf, type NodeRequest, type NodeResponse, OTHER } from './node.js';

/** A response of Node's HTTP to which a listener writes. */
export interface WrittenResponse extends NodeResponse {
  writeHead(status: number, ...more: never[]): unknown;
  getHeaders(): Readonly<Record<string, unknown>>;
  removeHeader(name: string): void;
  emit(event: string, given: unknown): unknown;
}

/**
 * Wraps a listener as `wrap` wraps a handler. The listener gets the message as `request.body`, and what it writes passes the
 * wrapper.
 */
export function wrapListener<From extends NodeRequest, To extends WrittenResponse>(
  listener: (request: From, response: To) => unknown,
  wrap: (handler: FetchHandler) => FetchHandler,
  failed: (cause: unknown) => Promise<Response>,
): (request: From, response: To) => Promise<void> {
  return (from, to) => {
    const handler: FetchHandler = (request, { parsedBody } = {}) => {
      from.body = parsedBody;
      const version = request.headers.get(VERSION);
      if (version !== null && from.headers[VERSION] === undefined) {
        from.headers[VERSION] = version;
        from.rawHeaders.push(VERSION, version);
      }
      return written(to, () => listener(from, to));
    };
    return listenerOf(wrap(handler), failed)(from, to);
  };
}

const VERSION = 'mcp-protocol-version';

/** Returns the response that a listener writes, once it has a head. */
function written(to: WrittenResponse, listen: () => unknown): Promise<Response> {
  const room = new ByteLengthQueuingStrategy({ highWaterMark: 16_384 });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, room);
  const body = writable.getWriter();
  const { writeHead } = to;
  return new Promise((answered, failed) => {
    let hasHead = false;
    const head = () => {
      if (hasHead) return;
      hasHead = true;
      // Node's own methods call it.
      to.writeHead = writeHead;
      const headers = new Headers();
      for (const [name, values] of Object.entries(to.getHeaders())) {
        for (const value of [values].flat()) headers.append(name, `${value}`);
        to.removeHeader(name);
      }
      answered(responseOf(readable, { status: to.statusCode, headers }));
    };
    // Whoever reads it may be gone.
    const gone = () => {};
    const put = (chunk: unknown): boolean => {
      const bytes = typeof chunk === 'string' ? new TextEncoder().encode(chunk) : chunk;
      if (bytes instanceof Uint8Array) body.write(bytes).catch(gone);
      const { desiredSize } = body;
      if (desiredSize === null || desiredSize > 0) return true;
      body.ready.then(() => to.emit('drain', OTHER), gone);
      return false;
    };
    const called = (given: readonly unknown[]) => {
      for (const one of given) if (typeof one === 'function') one();
    };
    Object.assign(to, {
      writeHead(status: number, ...more: unknown[]) {
        to.statusCode = status;
        const given = more.find((one) => typeof one === 'object') as HeadersInit | undefined;
        for (const [name, value] of new Headers(given)) to.setHeader(name, value);
        head();
        return to;
      },
      flushHeaders: head,
      write(chunk: unknown, ...more: unknown[]) {
        head();
        const hasRoom = put(chunk);
        called(more);
        return hasRoom;
      },
      end(...given: unknown[]) {
        head();
        put(given[0]);
        body.close().catch(gone);
        called(given);
        return to;
      },
    });
    Promise.resolve()
      .then(listen)
      .catch((cause) => {
        failed(cause);
        body.abort(cause).catch(gone);
      });
  });
}

function responseOf(body: ReadableStream, head: ResponseInit): Response {
  try {
    return new Response(body, head);
  } catch {
    // Its status has no body: what is written nobody reads.
    body.cancel().catch(() => {});
    return new Response(null, head);
  }
}
