/**
 * Type checks of arguments before they reach the module. A value of the wrong type is a `TypeError`;
 * the core checks its contents.
 */

import { invalidArgument } from './error.js';

/** A text from a client. It may have any contents: the core refuses it with the right code. */
export function wireText(name: string, value: unknown): string {
  if (typeof value !== 'string') throw wrongType(name, 'a string', value);
  return value;
}

/**
 * A text field. A lone surrogate is refused here: in UTF-8 all of them become the same character, so
 * that two names would be equal.
 */
export function text(name: string, value: unknown): string {
  const checked = wireText(name, value);
  if (!checked.isWellFormed()) {
    throw invalidArgument(`${name}: expected well-formed Unicode, found a lone surrogate`);
  }
  return checked;
}

/** What an array is by itself, whatever its class or its own members say. */
function intrinsic<T>(name: string | symbol): (array: unknown) => T {
  const prototype = Object.getPrototypeOf(Uint8Array.prototype);
  const { get } = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
  return Function.prototype.call.bind(get as () => T);
}

const tagOf = intrinsic<string | undefined>(Symbol.toStringTag);
const bufferOf = intrinsic<ArrayBuffer>('buffer');
const offsetOf = intrinsic<number>('byteOffset');
const lengthOf = intrinsic<number>('length');

/** The length of an array of bytes: the true one, whatever its own members say. */
export function byteLength(name: string, value: unknown): number {
  if (tagOf(value) !== 'Uint8Array') throw wrongType(name, 'a Uint8Array', value);
  return lengthOf(value);
}

/**
 * Bytes, as an array of our own over the same memory: its length is true, and stays so. By the length that another one
 * says, its bytes would be written over the module's memory.
 */
export function bytes(name: string, value: unknown): Uint8Array {
  const length = byteLength(name, value);
  return new Uint8Array(bufferOf(value), offsetOf(value), length);
}

/** A list of names, joined by NUL for the module. No name may contain NUL. */
export function names(name: string, value: unknown): string {
  if (!Array.isArray(value)) throw wrongType(name, 'an array of strings', value);
  const checked = [...value].map((item) => text(name, item));
  if (checked.length === 0)
    throw invalidArgument(`${name}: expected at least one name, found none`);
  if (checked.some((item) => item.includes('\0'))) {
    throw invalidArgument(`${name}: expected names without NUL`);
  }
  return checked.join('\0');
}

/** A number of seconds or bytes. */
export function count(name: string, value: unknown): number {
  if (typeof value !== 'number') throw wrongType(name, 'a number', value);
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalidArgument(`${name}: expected a whole number, found ${value}`);
  }
  return value;
}

export function flag(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') throw wrongType(name, 'a boolean', value);
  return value;
}

/** Checks a value unless it is `undefined`. */
export function optional<T>(
  check: (name: string, value: unknown) => T,
  name: string,
  value: unknown,
): T | undefined {
  return value === undefined ? undefined : check(name, value);
}

const encoder = new TextEncoder();

/** Called by the module: writes a text as UTF-8 as far as it fits, and returns how many units were read. */
export function encodeInto(text: string, memory: Uint8Array): number {
  return encoder.encodeInto(text, memory).read;
}

/** Called by the module: copies the beginning of an array into its memory. */
export function copyInto(array: Uint8Array, memory: Uint8Array): void {
  memory.set(array.length > memory.length ? array.subarray(0, memory.length) : array);
}

/** What the module knows the host's clock by. */
export const HOST_CLOCK = 0;
/** The clocks of tests, by their numbers, from 1. */
const testClocks: (() => number)[] = [];

/** Adds the clock of a test, in Unix milliseconds, and returns its number. */
export function addClock(read: () => number): number {
  return testClocks.push(read);
}

/**
 * Called by the module: the clocks, which are 0 where the host's throws. Then no token opens; an exception would pass
 * through the module and leave it unusable.
 */
export function dateNow(which: number): number {
  return clock((which !== HOST_CLOCK && testClocks[which - 1]) || (() => Date.now()));
}

/** Milliseconds with a fraction, at the host's resolution. */
export function performanceNow(): number {
  return clock(() => performance.now());
}

function clock(read: () => number): number {
  try {
    return Number(read());
  } catch {
    return 0;
  }
}

/**
 * Checks the names of options. An unknown name is refused: a misspelt `noExpiry` or `sessionId` must
 * not be ignored.
 */
export function options<K extends string>(
  given: unknown,
  ...known: readonly K[]
): { readonly [name in K]?: unknown } {
  if (typeof given !== 'object' || given === null) throw wrongType('options', 'an object', given);
  for (const name of Object.keys(given)) {
    if (!(known as readonly string[]).includes(name)) {
      throw new TypeError(`options: expected ${known.join(', ')}, found ${name}`);
    }
  }
  return given;
}

/** Checks options, as {@link options} does, and each one that is given. */
export function checked<Checks extends Record<string, (name: string, value: unknown) => unknown>>(
  given: unknown,
  checks: Checks,
): { readonly [Name in keyof Checks]?: ReturnType<Checks[Name]> | undefined } {
  const known = options(given, ...Object.keys(checks));
  const each = Object.entries(checks);
  return Object.fromEntries(
    each.map(([name, check]) => [name, optional(check, name, known[name])]),
  ) as never;
}

/** Returns the JSON of a value. Numbers that JSON would turn into `null` are refused. */
export function json(name: string, value: unknown): string {
  let written: string | undefined;
  try {
    written = JSON.stringify(value);
    // A function for each member takes four times as long as the writing. What it wrote is what was checked.
    if (written?.includes('null')) {
      written = JSON.stringify(value, (_, member) => finite(name, member));
    }
  } catch (error) {
    // The stack, or the longest text.
    if (error instanceof RangeError) {
      throw invalidArgument(`${name}: expected a value that JSON can hold: ${error.message}`);
    }
    throw error;
  }
  if (written === undefined) {
    throw invalidArgument(`${name}: expected a value that JSON can hold, found ${typeof value}`);
  }
  return written;
}

function finite(name: string, member: unknown): unknown {
  if (typeof member !== 'number' || Number.isFinite(member)) return member;
  throw invalidArgument(`${name}: expected a value that JSON can hold, found ${member}`);
}

/** Returns the error for an object of another class, or of another copy of the package. */
export function wrongClass(name: string, expected: string, found: unknown): TypeError {
  if (Object(found).constructor?.name !== expected) return wrongType(name, `a ${expected}`, found);
  return new TypeError(
    `${name}: expected a ${expected} of this copy of sealwax, found one of another: load sealwax by ` +
      'import everywhere, or by require everywhere, and have it installed once',
  );
}

export function wrongType(name: string, expected: string, found: unknown): TypeError {
  return new TypeError(
    `${name}: expected ${expected}, found ${found === null ? 'null' : typeof found}`,
  );
}
