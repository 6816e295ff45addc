/** Requests as the web's standards have them, and bodies that were read already. */

import type { Content } from '../engine.js';
import type { MessageHeaders } from '../sdk-types.js';

/** The largest body that is read, in bytes, as the SDK has it. */
const MAX_BYTES = 4 * 1024 * 1024;

export function isTooLarge(content: { readonly length: number } | undefined): boolean {
  return content !== undefined && content.length > MAX_BYTES;
}

/** Returns headers as Node has them. HTTP/2 has the method and the address among them. */
export function headersOf(given: MessageHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined && !name.startsWith(':')) headers.set(name, `${value}`);
  }
  return headers;
}

/** More levels than anybody reads. */
const TOO_DEEP = `${'['.repeat(1000)}${']'.repeat(1000)}`;

/** Returns the body of a message that somebody read before. */
export function written(message: unknown): Content {
  try {
    return JSON.stringify(message);
  } catch (cause) {
    // It has too many levels to be written.
    if (cause instanceof RangeError) return TOO_DEEP;
    throw cause;
  }
}

/** Reads a body up to the limit, and a little more where it is larger. */
export async function bytesOf({ body }: Request): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    pieces.push(read.value);
    size += read.value.length;
    if (size <= MAX_BYTES) continue;
    // Not awaited: the other branch of the stream is not read yet.
    reader?.cancel().catch(() => {});
    break;
  }
  return joined(pieces, size);
}

export function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [only] = pieces;
  if (only?.length === size) return only;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

const decoder = new TextDecoder();

export function textOf(content: Content): string {
  return typeof content === 'string' ? content : decoder.decode(content);
}

/**
 * A request whose body was read already. One to read again is made only for a handler that reads it, and does not pass the
 * message on: that takes longer than all else of a request.
 */
export class ReadRequest extends Request {
  /** The body. */
  content: Content;
  #made: Request | undefined;
  #message: object | undefined;

  constructor(url: URL, init: RequestInit, content: Content) {
    super(url, init);
    this.content = content;
  }

  /** The message, if the body is one: the handler refuses any other. */
  get message(): object | undefined {
    this.#message ??= parsed(this.content);
    return this.#message;
  }

  override get body(): Request['body'] {
    return this.whole.body;
  }
  override get bodyUsed() {
    return this.#made?.bodyUsed === true;
  }

  /** @internal */
  get whole(): Request {
    const { url, method, headers, signal, content } = this;
    this.#made ??= new Request(url, { method, headers, signal, body: content as BodyInit });
    return this.#made;
  }
}

for (const name of ['clone', 'text', 'json', 'arrayBuffer', 'bytes', 'blob', 'formData'] as const) {
  const value = function (this: ReadRequest) {
    return this.whole[name]();
  };
  Object.defineProperty(ReadRequest.prototype, name, { value });
}

function parsed(content: Content): object | undefined {
  if (isTooLarge(content)) return undefined;
  try {
    const message: unknown = JSON.parse(textOf(content));
    return typeof message === 'object' && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}
