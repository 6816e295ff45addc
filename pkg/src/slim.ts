/**
 * `sealwax` without the embedded module: for a runtime that compiles no bytes, a bundle that loads the module by
 * itself, or a page that fetches it as a stream. Compile `sealwax/sealwax.wasm` and call {@link start} with it,
 * before anything else.
 *
 * In a page with a Content-Security-Policy, `script-src` needs `'wasm-unsafe-eval'` for it too.
 */

export * from './main.js';
export { start } from './module.js';
