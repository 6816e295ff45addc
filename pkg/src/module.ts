/** The one instance of the WebAssembly module, however it was loaded. */

import * as raw from './raw.js';

let ready = false;

/** Instantiates the module; again is the same as once. */
export function start(module: WebAssembly.Module): void {
  raw.initSync({ module });
  ready = true;
}

/** The module's exports. */
export function core(): typeof raw {
  if (!ready) throw new Error('sealwax: call start(module) before anything else of sealwax/slim');
  return raw;
}
