// The entry point without the module, which a program compiles itself.

import { Codec, KeyRing, start } from 'sealwax/slim';

declare const module: WebAssembly.Module;
start(module);
export const codec: Codec = new Codec({ keys: KeyRing.parse(''), audience: 'a' });

// @ts-expect-error it takes a module
start();
