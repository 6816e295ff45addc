// The slim package, started, and what its module exports: nobody but the package sees that, so tests look over its shoulder.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { start } from 'sealwax/slim';

export const MODULE = createRequire(import.meta.url).resolve('sealwax/sealwax.wasm');
export let exported;
/** Imports a file of the package's own. */
export const internal = (path) => import(new URL(path, import.meta.resolve('sealwax/slim')).href);

const { Instance } = WebAssembly;
/** Starts it, with what `changed` makes of the functions that it imports. */
export function started(changed = (given) => given) {
  WebAssembly.Instance = class extends Instance {
    constructor(module, given) {
      super(module, changed(given));
      exported = this.exports;
    }
  };
  start(new WebAssembly.Module(readFileSync(MODULE)));
}

/** Fills the stack, then calls at every depth on the way back until one call has the room; returns what the others threw. */
export function whereFull(call) {
  const errors = [];
  let isDone = false;
  const down = () => {
    try {
      down();
    } catch {
      // It is full.
    }
    if (isDone) return;
    try {
      call();
      isDone = true;
    } catch (error) {
      errors.push(error);
    }
  };
  down();
  return errors;
}
