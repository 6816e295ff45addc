/** The one instance of the WebAssembly module, however it was loaded. */

import { SealwaxError } from './error.js';
import { isNode } from './nonce.js';
import * as raw from './raw.js';

let started: raw.InitOutput | undefined;

/**
 * Instantiates the module. Call it once before anything else of `sealwax/slim`; a second call has no further
 * effect.
 *
 * @param module the compiled `sealwax/sealwax.wasm`
 * @throws an `Error` in Node before version 20
 */
export function start(module: WebAssembly.Module): void {
  checkNode();
  started = raw.initSync({ module });
}

/**
 * Node 18 has no `crypto`: the first error would be about randomness.
 *
 * @internal
 */
export function checkNode(): void {
  if (!isNode()) return;
  const { process } = globalThis as unknown as { process: { versions: { node: string } } };
  const { node } = process.versions;
  if (Number.parseInt(node, 10) < 20) {
    throw new Error(`sealwax needs Node 20 or later, found ${node}`);
  }
}

/**
 * Room on the stack, in calls of the module's `checkStack`: for most calls, and for one that reads a document. Each is at
 * least twice what such calls take in Node 20 to 24: a document may have 128 levels.
 */
const SOME = 32;
export const WIDE = 256;

/**
 * The module's exports, to call one of them now.
 *
 * @throws the host's `RangeError` if its stack is nearly full: within the module it would leave it unusable
 * @internal
 */
export function core(room = SOME): typeof raw {
  instance();
  return entered(raw, room);
}

/**
 * Returns an object of the module, to call it now.
 *
 * @throws as {@link core}, and `internal_error` after a trap in the module: what it was doing is half done for ever
 * @internal
 */
export function entered<T>(object: T, room = SOME): T {
  if (raw.checkStack(room)) return object;
  throw ended();
}

/**
 * Returns the error for what the module returns after a trap.
 *
 * @internal
 */
export function ended(): SealwaxError {
  return new SealwaxError(
    'internal_error',
    'an earlier fault, such as no memory, ended the WebAssembly module of sealwax: start this process, page or Worker anew',
    false,
  );
}

/**
 * The module's exports, for more calls where {@link core} or {@link entered} found room already, and for those that find it
 * by themselves (`xtask/src/wasm.rs`).
 *
 * @internal
 */
export function inside(): typeof raw {
  instance();
  return raw;
}

/**
 * The module's memory: a new buffer whenever it has grown.
 *
 * @internal
 */
export function memory(): ArrayBuffer {
  return instance().memory.buffer as ArrayBuffer;
}

function instance(): raw.InitOutput {
  if (started !== undefined) return started;
  throw new Error('sealwax: call start(module) before anything else of sealwax/slim');
}
