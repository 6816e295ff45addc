/**
 * For Node, browsers and bundlers: the module is embedded, so it is ready at import. A page with a
 * Content-Security-Policy allows `'wasm-unsafe-eval'` in its `script-src`.
 */

import { embedded } from './embedded.js';
import { start } from './module.js';

start(new WebAssembly.Module(decode(embedded)));

export * from './main.js';

/** In Node a `Buffer` takes a twentieth of the time of `atob`, most of what loading the package took. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  if (globalThis.Buffer !== undefined) return globalThis.Buffer.from(base64, 'base64');
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
