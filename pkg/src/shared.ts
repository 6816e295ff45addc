/**
 * Memory of the module that both sides read and write, so that a call takes and returns only numbers.
 * `bindings/wasm/src/shared.rs` is the other side.
 */

import type { OpenedFacts } from './facts.js';
import { core, inside, memory as wholeMemory } from './module.js';
import { drawNonce, NONCE } from './nonce.js';
import type * as raw from './raw.js';

/** The kind and the bindings of a token as bytes, and their lengths: negative if absent. */
export interface Fields {
  readonly bytes: Uint8Array;
  readonly kind: number;
  readonly label: number;
  readonly sessionId: number;
  readonly context: number;
}

const encoder = new TextEncoder();
// A client's cursor may begin with a byte order mark.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The functions behind `toString` and `write` of a `Buffer`. */
interface Fast {
  utf8Slice(start: number, end: number): string;
  latin1Slice(start: number, end: number): string;
  utf8Write(text: string, at: number, room: number): number;
}

/** The whole memory of the module. It is detached when the memory grows. */
let memory = new Uint8Array();
let numbers: DataView;
/** The same memory as a `Buffer`, if there is one: it reads and writes short texts much faster. */
let buffer: (Buffer & Fast) | undefined;

/** Returns the address of the shared memory, with room for the given number of bytes. */
function place(room: number): number {
  const at = inside().shared(room);
  if (memory.byteLength === 0) {
    const all = wholeMemory();
    memory = new Uint8Array(all);
    numbers = new DataView(all);
    // A page may have a `Buffer` of somebody else's.
    const found = globalThis.Buffer?.from(all) as typeof buffer;
    const used = [found?.utf8Slice, found?.latin1Slice, found?.utf8Write];
    const isFast = used.every((of) => typeof of === 'function');
    buffer = isFast ? found : undefined;
  }
  return at;
}

/** A longer text is encoded first: reserving three bytes for each unit would take too much memory. */
const LONG = 1 << 14;

/** Cuts a text to the length that the core reads, because this memory never shrinks. */
export function cut(text: string): string {
  const most = inside().most();
  return text.length > most ? text.slice(0, most) : text;
}

/** Returns a text as it is written: as bytes if it is long. */
function piece(text: string): string | Uint8Array {
  return text.length > LONG ? encoder.encode(text) : text;
}

/** Returns the number of bytes that a piece takes at most. */
function roomFor(piece: string | Uint8Array): number {
  return typeof piece === 'string' ? 3 * piece.length : piece.length;
}

/** Writes a piece at an address and returns its length. */
function write(piece: string | Uint8Array, at: number): number {
  if (typeof piece !== 'string') {
    memory.set(piece, at);
    return piece.length;
  }
  const room = roomFor(piece);
  if (buffer !== undefined) return buffer.utf8Write(piece, at, room);
  return encoder.encodeInto(piece, memory.subarray(at, at + room)).written;
}

/** Returns the length of a call's result; throws if the call failed. */
export function left(length: number): number {
  if (length < 0) inside().failure();
  return length;
}

/** The most of a document. What it holds of a client is cut, or limited by the transport: the SDK reads 10 MiB at most. */
const LONGEST = 16 << 20;

/**
 * Writes texts one after another, after their lengths: -1 if absent, -2 for a value that is no text. Returns the length
 * of all.
 */
export function give(...texts: readonly (string | true | undefined)[]): number {
  const head = 4 * texts.length;
  let whole = '';
  for (const text of texts) if (typeof text === 'string') whole += text;
  if (whole.length <= LONG) {
    // One call for all is faster, and the lengths are known if all is ASCII.
    const start = place(head + roomFor(whole));
    const length = write(whole, start + head);
    if (length === whole.length) {
      for (let at = 0; at < texts.length; at++) putLength(start + 4 * at, texts[at]);
      return head + length;
    }
  }
  const pieces = texts.map((text) =>
    typeof text === 'string' ? piece(text.slice(0, LONGEST)) : text,
  );
  const room = pieces.reduce<number>((sum, of) => sum + (isPiece(of) ? roomFor(of) : 0), head);
  const start = place(room);
  let end = start + head;
  for (const [at, of] of pieces.entries()) {
    const from = end;
    if (isPiece(of)) end += write(of, from);
    putLength(start + 4 * at, isPiece(of) ? { length: end - from } : of);
  }
  return end - start;
}

function isPiece(of: string | Uint8Array | true | undefined): of is string | Uint8Array {
  return of !== undefined && of !== true;
}

function putLength(at: number, of: { readonly length: number } | true | undefined): void {
  numbers.setInt32(at, of === undefined ? -1 : of === true ? -2 : of.length, true);
}

const NONE = new Uint8Array();
/** The kinds as bytes. */
const kinds = new Map<string, Uint8Array>();

/** Copies the fields: a later change of the caller's array must not change a binding. */
export function fieldsOf(
  kind: string,
  label: string | undefined,
  sessionId: string | undefined,
  context: Uint8Array | undefined,
): Fields {
  const kindBytes = kinds.get(kind) ?? encoder.encode(kind);
  kinds.set(kind, kindBytes);
  const labelBytes = label ? encoder.encode(cut(label)) : NONE;
  const idBytes = sessionId ? encoder.encode(cut(sessionId)) : NONE;
  const { length = -1 } = context ?? {};
  const idAt = kindBytes.length + labelBytes.length;
  const bytes = new Uint8Array(idAt + idBytes.length + Math.max(0, length));
  bytes.set(kindBytes);
  bytes.set(labelBytes, kindBytes.length);
  bytes.set(idBytes, idAt);
  if (context !== undefined) bytes.set(context, idAt + idBytes.length);
  return {
    bytes,
    kind: kindBytes.length,
    label: labelBytes.length,
    sessionId: sessionId === undefined ? -1 : idBytes.length,
    context: length,
  };
}

/** @param ttl `NaN` for that of the kind, infinite for no expiry
 * @param startedAt `NaN` for a new token */
export function seal(
  view: raw.View,
  fields: Fields,
  payload: Uint8Array,
  ttl: number,
  startedAt = Number.NaN,
  generation = 0,
): string {
  const length = Math.min(payload.length, inside().most());
  const room = NONCE + fields.bytes.length + length;
  const start = place(room);
  const nonce = drawNonce(memory, start);
  let at = start + nonce;
  memory.set(fields.bytes, at);
  at += fields.bytes.length;
  memory.set(length === payload.length ? payload : payload.subarray(0, length), at);
  const found = left(
    view.seal(
      at + length - start,
      nonce,
      fields.kind,
      fields.label,
      fields.sessionId,
      fields.context,
      payload.length,
      ttl,
      startedAt,
      generation,
    ),
  );
  return readText(found);
}

/** @param maxAge `NaN` for none */
export function open(view: raw.View, fields: Fields, token: string, maxAge: number): OpenedFacts {
  const { bytes } = fields;
  const text = piece(cut(token));
  const start = place(bytes.length + roomFor(text));
  memory.set(bytes, start);
  const length = write(text, start + bytes.length);
  const found = view.open(
    bytes.length + length,
    fields.kind,
    fields.label,
    fields.sessionId,
    fields.context,
    length,
    token.length,
    maxAge,
  );
  return readOpened(left(found));
}

export function requestContext(
  method: string,
  target: string,
  args: string | undefined,
  only: string | undefined,
): Uint8Array {
  const { requestContext } = core();
  const found = left(requestContext(give(method, target, args, only)));
  const result = place(0);
  return memory.slice(result, result + found);
}

/** Returns the number at the beginning of a result. */
export function readNumber(): number {
  const at = place(0);
  return numbers.getUint32(at, true);
}

/** Reads a text of a result, which ends at an offset, and wipes it. */
export function readUtf8(from: number, to: number): string {
  const at = place(0);
  const text =
    buffer === undefined
      ? decoder.decode(memory.subarray(at + from, at + to))
      : buffer.utf8Slice(at + from, at + to);
  memory.fill(0, at + from, at + to);
  return text;
}

function readText(length: number): string {
  const at = place(0);
  if (buffer !== undefined) return buffer.latin1Slice(at, at + length);
  return decoder.decode(memory.subarray(at, at + length));
}

/** The offset of the payload, after the other facts. */
const PAYLOAD = 48;

/** Reads the result that `bindings/wasm/src/opened.rs` writes, and wipes it. */
export function readOpened(length: number): OpenedFacts {
  const at = place(0);
  const expiresAt = numbers.getFloat64(at + 8, true);
  const facts: OpenedFacts = {
    payload: memory.slice(at + PAYLOAD, at + length),
    issuedAt: numbers.getFloat64(at, true),
    expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt,
    startedAt: numbers.getFloat64(at + 16, true),
    generation: numbers.getUint32(at + 24, true),
    needsReseal: memory[at + 28] !== 0,
    needsRenewal: memory[at + 30] !== 0,
    tokenId: [
      numbers.getUint32(at + 32),
      numbers.getUint32(at + 36),
      numbers.getUint32(at + 40),
      numbers.getUint32(at + 44),
    ],
  };
  memory.fill(0, at, at + length);
  return facts;
}
