/**
 * Memory of the module that both sides read and write, so that a call takes and returns only numbers.
 * `bindings/wasm/src/shared.rs` is the other side.
 */

import type { OpenedFacts } from './facts.js';
import { core, inside, WIDE, memory as wholeMemory } from './module.js';
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
const decoder = new TextDecoder();

/** The functions behind `toString` and `write` of a `Buffer`. */
interface Fast {
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
    const isFast = [found?.latin1Slice, found?.utf8Write].every((of) => typeof of === 'function');
    buffer = isFast ? found : undefined;
  }
  return at;
}

/** A longer text is encoded first: reserving three bytes for each unit would take too much memory. */
const LONG = 1 << 14;

/** Cuts a text to the length that the core reads, because this memory never shrinks. */
function cut(text: string): string {
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
function left(length: number): number {
  if (length < 0) inside().failure();
  return length;
}

const NONE = new Uint8Array();

export function fieldsOf(
  kind: string,
  label: string | undefined,
  sessionId: string | undefined,
  context: Uint8Array | undefined,
): Fields {
  const [kindBytes, labelBytes] = [encoder.encode(kind), encoder.encode(cut(label ?? ''))];
  const idBytes = sessionId === undefined ? undefined : encoder.encode(cut(sessionId));
  const pieces = [kindBytes, labelBytes, idBytes ?? NONE, context ?? NONE];
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return {
    bytes,
    kind: kindBytes.length,
    label: labelBytes.length,
    sessionId: idBytes?.length ?? -1,
    context: context?.length ?? -1,
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
  const { requestContext } = core(WIDE);
  const pieces = [method, target, args, only].map((text) => text && piece(text));
  const start = place(pieces.reduce((sum, text) => sum + (text ? roomFor(text) : 0), 0));
  let at = start;
  const lengths = pieces.map((text) => {
    if (text === undefined) return -1;
    const length = write(text, at);
    at += length;
    return length;
  });
  const [methodLength, targetLength, argsLength, onlyLength] = lengths as [
    number,
    number,
    number,
    number,
  ];
  const found = left(
    requestContext(at - start, methodLength, targetLength, argsLength, onlyLength),
  );
  const result = place(0);
  return memory.slice(result, result + found);
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
