// No nonce twice: bursts, clocks that tick, generators that repeat, threads, snapshots.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { anonymous, Codec, inspect, Key, KeyRing } from 'sealwax';

const keys = new KeyRing([Key.generate()]);
const view = new Codec({ keys, audience: 'https://mcp.example.com' }).view(anonymous);
const sealer = view.session();
const payload = new Uint8Array(1);

/** The first 16 bytes of the nonce, in hex. */
const nonce = () => inspect(sealer.seal(payload)).tokenId;

/** Acts with a generator and clocks of its own: those of the tests that follow are the host's. */
function stubbed(host, act) {
  const { getRandomValues } = crypto;
  const own = [Date.now, performance.now];
  const { getRandomValues: given = getRandomValues, now = 0, within = 0 } = host;
  crypto.getRandomValues = given && ((bytes) => given.call(crypto, bytes));
  Date.now = () => (typeof now === 'function' ? now() : now);
  performance.now = () => (typeof within === 'function' ? within() : within);
  try {
    return act();
  } finally {
    crypto.getRandomValues = getRandomValues;
    [Date.now, performance.now] = own;
  }
}

test('a generator that repeats gives another nonce at another time, and in a burst', () => {
  const getRandomValues = (bytes) => bytes.fill(7);
  const start = 1_800_000_000_000;
  const found = new Set();
  for (let at = 0; at < 500; at++) {
    for (const [now, within] of [
      [start + at, 0.25],
      [start + 1_000 + 2 * at, at / 1_000],
    ])
      found.add(stubbed({ getRandomValues, now, within }, nonce));
  }
  let passed = 0;
  const within = () => (passed += 1 / 1024);
  stubbed({ getRandomValues, now: start + 100_000, within }, () => {
    for (let times = 0; times < 1_000; times++) found.add(nonce());
  });
  assert.equal(found.size, 2_000);
});

test('a burst is drawn for the second token of a millisecond, and ends with it', () => {
  const draws = [];
  let next = 0;
  const getRandomValues = (bytes) => {
    draws.push(bytes.length);
    // Every 24 bytes another number, where no time is mixed in.
    for (let at = 0; at < bytes.length; at += 24) {
      next += 1;
      new DataView(bytes.buffer, bytes.byteOffset + at, 24).setUint32(8, next);
    }
    return bytes;
  };
  let now = 1_800_000_200_000;
  const drawn = () => Number.parseInt(nonce().slice(16, 24), 16);
  stubbed({ getRandomValues, now: () => now }, () => {
    assert.deepEqual([drawn(), drawn(), drawn()], [1, 2, 3]);
    now += 1;
    // What was left of it is gone.
    assert.deepEqual([drawn(), drawn()], [130, 131]);
    assert.deepEqual(draws, [24, 3072, 24, 3072]);
    // Another when it is used up.
    for (let at = 1; at < 128; at++) assert.equal(drawn(), 131 + at);
    assert.equal(drawn(), 259);
    assert.deepEqual(draws.slice(4), [3072]);
    // And where the clock goes back.
    now -= 5;
    assert.equal(drawn(), 387);
  });
});

test('what the engine of a guard seals has nonces of the bursts too, and none twice', async (t) => {
  const { Engine } = await import(new URL('mcp/engine.js', import.meta.resolve('sealwax')).href);
  const engine = new Engine(new Codec({ keys, audience: 'https://mcp.example.com' }), {});
  const message = { method: 'tools/call', target: 'x', args: '{}' };
  const exchange = engine.request(message, 'requestState', { anonymous: true });
  const { mock } = t.mock.method(crypto, 'getRandomValues');
  t.mock.method(Date, 'now', () => 1_800_000_400_000);
  const sealed = () => inspect(exchange.sealState('1')).tokenId;
  const found = Array.from({ length: 200 }, sealed);
  exchange.free();
  assert.deepEqual([new Set(found).size, mock.callCount()], [200, 3]);
});

test('a generator that gives zeros alone, or fails, is none', () => {
  const throws = () => {
    throw new Error('of the host');
  };
  for (const getRandomValues of [(bytes) => bytes.fill(0), (bytes) => bytes, throws, null]) {
    stubbed({ getRandomValues, now: 1_800_000_300_000 }, () => {
      // One for itself, and those that would be of a burst.
      for (const draw of [nonce, nonce, nonce, Key.generate, () => view.mintSessionId()])
        assert.throws(draw, { code: 'entropy_unavailable' });
    });
    nonce();
  }
});

test('a clock at any time seals, and opens what is neither too new nor too old', () => {
  const times = [-1e20, -1, 0, 2 ** 31 * 1000, 2 ** 32 * 1000, 2 ** 48, 2 ** 53, 8.64e15, 1e300];
  const seconds = (now) => Math.min(Math.max(0, Math.trunc(now / 1000)), Number(2n ** 64n / 1000n));
  for (const none of [Number.NaN, Number.POSITIVE_INFINITY])
    stubbed({ now: none }, () => sealer.seal(payload));
  for (const made of times) {
    const token = stubbed({ now: made }, () => sealer.seal(payload));
    for (const now of times) {
      const opened = () => stubbed({ now }, () => sealer.open(token));
      const age = seconds(now) - seconds(made);
      const code = age < -60 ? 'not_yet_valid' : 'expired';
      if (age >= -60 && age < 30 * 86_400) opened();
      else assert.throws(opened, { code }, `${made}, then ${now}`);
    }
  }
});

test('elsewhere each token draws its own', () => {
  const script = `
    Object.defineProperty(process.versions, 'bun', { value: '1.3.0' });
    const { anonymous, Codec, Key, KeyRing } = await import('sealwax');
    const sizes = new Set();
    const { getRandomValues } = crypto;
    crypto.getRandomValues = (bytes) => (sizes.add(bytes.length), getRandomValues.call(crypto, bytes));
    const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience: 'a' });
    const sealer = codec.view(anonymous).session();
    for (let at = 0; at < 10_000; at++) sealer.seal(new Uint8Array(1));
    console.log([...sizes].join());`;
  const cwd = new URL('.', import.meta.url);
  const args = ['--input-type=module', '--eval', script];
  assert.equal(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' }), '32,24\n');
});

test('threads draw their own', async () => {
  const script = `
    import { parentPort, workerData } from 'node:worker_threads';
    import { anonymous, Codec, inspect } from 'sealwax';
    const codec = new Codec({ keys: workerData, audience: 'https://mcp.example.com' });
    const sealer = codec.view(anonymous).session();
    const found = Array.from({ length: 20_000 }, () => inspect(sealer.seal(new Uint8Array(1))).tokenId);
    parentPort.postMessage(found);`;
  const path = new URL('./nonces-of-a-thread.mjs', import.meta.url);
  writeFileSync(path, script);
  const workers = Array.from({ length: 4 }, () => {
    const worker = new Worker(path, { workerData: Key.generate().toText() });
    return new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject));
  });
  const found = (await Promise.all(workers)).flat();
  assert.equal(new Set(found).size, 80_000);
});

test('a snapshot of a process keeps nothing of a burst', () => {
  // Node has no WebAssembly where it makes a snapshot, so this is of the module that keeps a burst, alone.
  const manifest = createRequire(import.meta.url).resolve('sealwax/package.json');
  const code = readFileSync(join(manifest, '../dist/cjs/nonce.js'), 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'sealwax-'));
  const [script, blob] = [join(folder, 'main.cjs'), join(folder, 'blob')];
  writeFileSync(
    script,
    `const exported = {};
    ((exports) => { ${code} })(exported);
    const draw = () => {
      const memory = new Uint32Array(6);
      return exported.drawNonce(memory, 0, Date.now()) && Buffer.from(memory.buffer).toString('hex');
    };
    const before = [];
    while (before.length < 3) { const drawn = draw(); if (drawn) before.push(drawn); }
    require('v8').startupSnapshot.setDeserializeMainFunction(() => {
      console.log(JSON.stringify([...before, ...Array.from({ length: 1_000 }, draw).filter(Boolean)]));
    });`,
  );
  const node = (...args) => execFileSync(process.execPath, ['--snapshot-blob', blob, ...args]);
  node('--build-snapshot', script);
  const runs = [JSON.parse(node('one')), JSON.parse(node('two'))];
  const found = [...runs[0], ...runs[1].slice(3)];
  assert.ok(found.length > 100);
  assert.equal(new Set(found).size, found.length);
});
