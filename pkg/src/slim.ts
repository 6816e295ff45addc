/** For hosts that bring the module of `sealwax/sealwax.wasm` themselves, compiled as they like. */

export * from './main.js';
export { start } from './module.js';
