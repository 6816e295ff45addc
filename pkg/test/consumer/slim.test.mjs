import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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

test("a page may have a Buffer of somebody else's", () => {
  const page = `
    const own = globalThis.Buffer;
    globalThis.Buffer = { from: (...given) => new Uint8Array(typeof given[0] === 'string' ? own.from(...given) : given[0]) };
    const { Codec, Key } = await import('sealwax');
    const codec = new Codec({ keys: Key.generate().toText(), audience: 'x' });
    const sealer = codec.view({ subject: 'alice' }).cursor('tools/list');
    console.log(sealer.open(sealer.sealJson({ page: 2 })).json().page);`;
  const args = ['--input-type=module', '--eval', page];
  const cwd = new URL('.', import.meta.url);
  assert.equal(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }), '2\n');
});
