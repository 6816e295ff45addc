import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { Guard } from 'sealwax/mcp';
import * as sealwax from 'sealwax/slim';

const MODULE = createRequire(import.meta.url).resolve('sealwax/sealwax.wasm');

test('the slim package works once it was given the module', () => {
  assert.throws(() => sealwax.Key.generate(), /call start/);
  sealwax.start(new WebAssembly.Module(readFileSync(MODULE)));
  sealwax.start(new WebAssembly.Module(readFileSync(MODULE)));
  const key = sealwax.Key.generate();
  assert.equal(sealwax.inspect(key.toText()).keyId, key.id);
  const codec = new sealwax.Codec({ keys: key, audience: 'a' });
  assert.ok(new Guard({ codec, principal: 'anonymous' }) instanceof Guard);
});
