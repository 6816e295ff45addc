/**
 * Memory of the module that both sides read and write, so that a call takes and returns only numbers.
 * `bindings/wasm/src/shared.rs` is the other side.
 */

import type { OpenedFacts } from './facts.js';
import { byteLength, bytes, dateNow, HOST_CLOCK, performanceNow } from './input.js';
import { core, ended, inside, memory as wholeMemory } from './module.js';
import { drawNonce, NONCE } from './nonce.js';
import type * as raw from './raw.js';

/** The number of a token's kind, its bindings as bytes, and their lengths: negative if absent. */
export interface Fields {
  readonly bytes: Uint8Array;
  readonly kind: number;
  readonly label: number;
  readonly sessionId: number;
  readonly context: number;
}

/** A text, or its bytes; `true` stands for a client's value that is none. */
export type Given = string | Uint8Array | true | undefined;

/** What a machine is told: a kind, flags, and texts. */
export interface Frame {
  readonly kind: number;
  readonly flags?: number;
  readonly texts: readonly Given[];
}

/** What a machine answers. */
export interface Answer {
  readonly kind: number;
  readonly flags: number;
  readonly text: string | undefined;
  /** What is beside a step: bytes that belong to it, or events, as JSON, where it is no document. */
  readonly beside: string | undefined;
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
let words: Uint32Array;
let numbers: DataView;
/** The same memory as a `Buffer`, if there is one: it reads and writes short texts much faster. */
let buffer: (Buffer & Fast) | undefined;
/** Where the module has the address of the shared memory, and its size after it. */
let whereabouts: number;
/** The most bytes of a payload, or units of a text, to pass. */
let most: number;

/** Looks at the memory, which is new or has grown. */
function look(): void {
  const module = inside();
  whereabouts = module.place();
  most = module.most();
  const all = wholeMemory();
  memory = new Uint8Array(all);
  words = new Uint32Array(all);
  numbers = new DataView(all);
  // A page may have a `Buffer` of somebody else's.
  const found = globalThis.Buffer?.from(all) as typeof buffer;
  const used = [found?.utf8Slice, found?.latin1Slice, found?.utf8Write];
  const isFast = used.every((of) => typeof of === 'function');
  buffer = isFast ? found : undefined;
}

/** Returns the address of the shared memory, with room for the given number of bytes. */
function place(room: number): number {
  if (memory.byteLength === 0) look();
  if (numbers.getUint32(whereabouts + 4, true) < room) {
    core().shared(room);
    if (memory.byteLength === 0) look();
  }
  return numbers.getUint32(whereabouts, true);
}

/** A longer text is encoded first: reserving three bytes for each unit would take too much memory. */
const LONG = 1 << 14;

/** Cuts a text to the length that the core reads, because this memory never shrinks. */
export function cut(text: string): string {
  if (memory.byteLength === 0) look();
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

/**
 * Returned by what checks the stack in the module (`xtask/src/wasm.rs`). Then, and where the host threw because its stack is
 * full, the module has not wiped what it was given.
 */
const ENDED = -2;

/** Returns the length of a call's result; throws if the call failed. */
export function left(length: number): number {
  if (length >= 0) return length;
  if (length === ENDED) throw ended();
  inside().failure();
  return length;
}

/** The most of a document. What it holds of a client is cut, or limited by the transport: the SDK reads 10 MiB at most. */
const LONGEST = 16 << 20;

/** Writes a frame, and returns its length. */
export function give({ kind, flags = 0, texts }: Frame): number {
  const head = 4 + 4 * texts.length;
  let whole = '';
  let isText = true;
  for (const text of texts) {
    if (typeof text === 'string') whole += text;
    else if (typeof text === 'object') isText = false;
  }
  if (isText && whole.length <= LONG) {
    // One call for all is faster, and the lengths are known if all is ASCII.
    const start = place(head + roomFor(whole));
    const length = write(whole, start + head);
    if (length === whole.length) {
      putHead(start, kind, flags, texts);
      return head + length;
    }
  }
  const pieces = texts.map((text) =>
    typeof text === 'string' ? piece(text.slice(0, LONGEST)) : text,
  );
  const room = pieces.reduce<number>((sum, of) => sum + (isPiece(of) ? roomFor(of) : 0), head);
  const start = place(room);
  let end = start + head;
  const lengths = pieces.map((of) => {
    if (!isPiece(of)) return of;
    const length = write(of, end);
    end += length;
    return { length };
  });
  putHead(start, kind, flags, lengths);
  return end - start;
}

function isPiece(of: Given): of is string | Uint8Array {
  return of !== undefined && of !== true;
}

function putHead(
  start: number,
  kind: number,
  flags: number,
  texts: readonly ({ readonly length: number } | true | undefined)[],
): void {
  numbers.setUint32(start, kind | (texts.length << 8) | (flags << 16), true);
  let at = start;
  for (const of of texts) {
    at += 4;
    numbers.setInt32(at, of === undefined ? -1 : of === true ? -2 : of.length, true);
  }
}

const NONE = new Uint8Array();
/** The numbers of the kinds. */
const kinds = new Map<string, number>();

/** Copies the fields: a later change of the caller's array must not change a binding. */
export function fieldsOf(
  kind: string,
  label: string | undefined,
  sessionId: string | undefined,
  context: Uint8Array | undefined,
): Fields {
  const number = kinds.get(kind) ?? core().kindNumber(kind);
  kinds.set(kind, number);
  const labelBytes = label ? encoder.encode(cut(label)) : NONE;
  const idBytes = sessionId ? encoder.encode(cut(sessionId)) : NONE;
  const { length = -1 } = context ?? {};
  const contextAt = labelBytes.length + idBytes.length;
  const bytes = new Uint8Array(contextAt + Math.max(0, length));
  bytes.set(labelBytes);
  bytes.set(idBytes, labelBytes.length);
  if (context !== undefined) bytes.set(context, contextAt);
  return {
    bytes,
    kind: number,
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
  const units = byteLength('payload', payload);
  if (memory.byteLength === 0) look();
  const now = dateNow(HOST_CLOCK);
  const within = performanceNow();
  const sealed = Math.min(units, most);
  const start = place(NONCE + fields.bytes.length + sealed);
  const nonce = drawNonce(words, start >>> 2, now);
  const at = start + nonce + fields.bytes.length;
  const end = at + sealed;
  let length = ENDED;
  try {
    memory.set(fields.bytes, start + nonce);
    // An array that another thread grows finds no room beyond. None of zero bytes is read: it may be out of its buffer's bounds.
    const isWhole = units > 0 && units <= most;
    memory.subarray(at, end).set(isWhole ? payload : bytes('payload', payload).subarray(0, most));
    length = view.seal(
      end - start,
      nonce,
      fields.kind,
      fields.label,
      fields.sessionId,
      fields.context,
      units,
      ttl,
      startedAt,
      generation,
      now,
      within,
    );
  } finally {
    if (length === ENDED) memory.fill(0, start, end);
  }
  return readText(left(length));
}

/** @param maxAge `NaN` for none */
export function open(view: raw.View, fields: Fields, token: string, maxAge: number): OpenedFacts {
  const { bytes } = fields;
  const now = dateNow(HOST_CLOCK);
  const text = piece(cut(token));
  const start = place(bytes.length + roomFor(text));
  memory.set(bytes, start);
  const length = write(text, start + bytes.length);
  const end = start + bytes.length + length;
  let found = ENDED;
  try {
    found = view.open(
      end - start,
      fields.kind,
      fields.label,
      fields.sessionId,
      fields.context,
      length,
      token.length,
      maxAge,
      now,
    );
  } finally {
    if (found === ENDED) memory.fill(0, start, end);
  }
  return readOpened(left(found));
}

export function requestContext(
  method: string,
  target: string,
  args: string | undefined,
  only: string | undefined,
): Uint8Array {
  // Before anything is written: what wipes it takes room too.
  core();
  const length = give({ kind: 0, texts: [method, target, args, only] });
  let found = ENDED;
  try {
    found = inside().requestContext(length);
  } finally {
    if (found === ENDED) memory.fill(0, place(0), place(0) + length);
  }
  left(found);
  const result = place(0);
  return memory.slice(result, result + found);
}

/** Returns the number at the beginning of a result. */
export function readNumber(): number {
  const at = place(0);
  return numbers.getUint32(at, true);
}

/** Where the texts of an answer begin: it has two. */
const ANSWER = 12;

/** Reads an answer, and wipes it. */
export function readAnswer(from: number): Answer {
  const at = place(0) + from;
  const kind = memory[at] as number;
  const flags = numbers.getUint16(at + 2, true);
  const first = numbers.getInt32(at + 4, true);
  const second = numbers.getInt32(at + 8, true);
  const start = at + ANSWER;
  const middle = start + Math.max(0, first);
  const text = first < 0 ? undefined : readUtf8(start, middle);
  const beside = second < 0 ? undefined : readUtf8(middle, middle + second);
  return { kind, flags, text, beside };
}

/** Reads a text between two addresses, and wipes it. */
function readUtf8(from: number, to: number): string {
  const text =
    buffer === undefined ? decoder.decode(memory.subarray(from, to)) : buffer.utf8Slice(from, to);
  memory.fill(0, from, to);
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
