/** The one instance of the WebAssembly module, however it was loaded. */

import * as raw from './raw.js';

let started: raw.InitOutput | undefined;

/** Instantiates the module; again is the same as once. */
export function start(module: WebAssembly.Module): void {
  started = raw.initSync({ module });
}

/** The module's exports. */
export function core(): typeof raw {
  instance();
  return raw;
}

/** The module's memory: another array whenever it has grown. */
export function memory(): ArrayBuffer {
  return instance().memory.buffer as ArrayBuffer;
}

function instance(): raw.InitOutput {
  if (started !== undefined) return started;
  throw new Error('sealwax: call start(module) before anything else of sealwax/slim');
}
