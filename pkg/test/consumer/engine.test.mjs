// What passes between JavaScript and the guard's engine comes through as it was, and is wiped, with a Buffer, without, and with another.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ALICE = ['https://idp.example.com', undefined, 'alice'];

async function tried() {
  const { Codec, Key } = await import('sealwax');
  const own = (path) => import(new URL(path, import.meta.resolve('sealwax')).href);
  const [{ Engine }, raw, { memory }] = await Promise.all(
    ['mcp/engine.js', 'raw.js', 'module.js'].map(own),
  );
  const keys = Key.generate().toText();
  const codec = new Codec({ keys, audience: 'https://mcp.example.com', payloadLimit: 1 << 20 });
  const engine = new Engine(codec, {});
  const begun = (message) => engine.request(message, 'nextCursor', ALICE);
  const list = { method: 'tools/list' };

  for (const cursor of [
    ...['', '2', '\ufeffwith a mark', 'Grüße', '𝔘𝔫𝔦𝔠𝔬𝔡𝔢', '\0'],
    ...['x'.repeat(100_000), `${'x'.repeat(100_000)}é`, 'é'.repeat(10_000)],
  ]) {
    const page = begun(list);
    assert.deepEqual([page.first.step, page.first.opened], ['deliver', undefined]);
    const { step, set } = page.result({ nextCursor: cursor });
    const [[path, token]] = set;
    assert.deepEqual([step, path], ['respond', ['nextCursor']]);
    page.free();
    const next = begun({ ...list, token });
    assert.equal(next.first.opened, cursor);
    next.free();
  }

  // Several texts beyond ASCII, and absent ones between them.
  const call = { method: 'tools/call', target: 'Grüße', args: '{"id":"é"}' };
  const asked = begun(call);
  const token = asked.sealState('{"secret":"told to nobody"}');
  asked.free();
  const answered = begun({ ...call, token });
  assert.equal(answered.first.opened, '{"secret":"told to nobody"}');
  answered.free();
  const held = new TextDecoder('latin1').decode(new Uint8Array(memory(), raw.shared(0), 1 << 12));
  assert.ok(!held.includes('secret') && !held.includes('alice'));
  assert.equal(raw.exchanges(), 0);
}

const { from } = Buffer;
/** What a page may have in place of Node's. */
const BUFFERS = {
  none: undefined,
  "somebody else's": {
    from: (given, as) => new Uint8Array(typeof given === 'string' ? from(given, as) : given),
  },
};

const { INSTEAD } = process.env;
if (INSTEAD) {
  globalThis.Buffer = BUFFERS[INSTEAD];
  await tried();
} else {
  test('with a Buffer', tried);
  for (const INSTEAD of Object.keys(BUFFERS)) {
    test(`in place of Node's Buffer: ${INSTEAD}`, () => {
      const file = fileURLToPath(import.meta.url);
      execFileSync(process.execPath, [file], { env: { ...process.env, INSTEAD } });
    });
  }
}
