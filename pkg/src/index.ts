/**
 * For Node, browsers and bundlers: the module is embedded, so it is ready at import. A page with a
 * Content-Security-Policy allows `'wasm-unsafe-eval'` in its `script-src`.
 */

import { embedded } from './embedded.js';
import { start } from './module.js';

start(new WebAssembly.Module(Uint8Array.from(atob(embedded), (byte) => byte.charCodeAt(0))));

export * from './main.js';
