/** For workerd, which compiles no bytes but hands over a compiled module. */

import module from '../sealwax.wasm';
import { start } from './module.js';

start(module);

export * from './main.js';
