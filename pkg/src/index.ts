/**
 * For Node, browsers and bundlers: the module is embedded, so that it is ready at import. In a page with a
 * Content-Security-Policy, `script-src` needs `'wasm-unsafe-eval'`.
 */

import { embedded } from './embedded.js';
import { start } from './module.js';

start(new WebAssembly.Module(decode(embedded)));

export * from './main.js';

/** In Node, `Buffer` decodes in a twentieth of the time of `atob`, which was most of the time to load. */
function decode(base64: string): Uint8Array<ArrayBuffer> {
  if (globalThis.Buffer !== undefined) return globalThis.Buffer.from(base64, 'base64');
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}
