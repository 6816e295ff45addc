// npm.mjs MODULE: what a call of the npm package takes of its WebAssembly module, and what a request to a guarded server of
// the SDK does. MODULE counts the instructions that it executes. A line for each: operation, what, count.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const TIMES = 50;
const found = { 'calls-in': 0, 'calls-out': 0 };
let executed;

// Time that stands, randomness that is known, and no memory that is freed in between.
Date.now = () => 1_800_000_000_000;
performance.now = () => 1;
let drawn = 0;
crypto.getRandomValues = (bytes) => {
  bytes.fill(0x5a);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, ++drawn);
  return bytes;
};
globalThis.FinalizationRegistry = class {
  register() {}
  unregister() {}
};

// The package's module is the counting one, and what crosses its boundary is counted.
const { Instance, Module } = WebAssembly;
const module = new Module(readFileSync(process.argv[2]));
WebAssembly.Module = function counting() {
  return module;
};
WebAssembly.Module.prototype = Module.prototype;
WebAssembly.Instance = class {
  constructor(given, imports) {
    assert.equal(given, module);
    const named = Object.entries(imports).map(([name, of]) => [name, counted(of, 'calls-out')]);
    const { exports } = new Instance(module, Object.fromEntries(named));
    ({ executed } = exports);
    this.exports = counted(exports, 'calls-in');
  }
};

function counted(functions, what) {
  const each = Object.entries(functions).map(([name, of]) => {
    if (typeof of !== 'function') return [name, of];
    const counting = (...given) => {
      found[what] += 1;
      return of(...given);
    };
    return [name, counting];
  });
  return Object.fromEntries(each);
}

const { Codec, Key, KeyRing, requestContext } = await import('sealwax');
const { asked, call, connected, factoryOf, guard, SESSION, FIRST } = await import(
  './counts-servers.mjs'
);

async function count(operation, run) {
  const now = () => ({ ...found, instructions: Number(executed.value) });
  for (let times = 0; times < TIMES; times++) await run();
  const before = now();
  for (let times = 0; times < TIMES; times++) await run();
  const after = now();
  for (const what of ['instructions', 'calls-in', 'calls-out']) {
    console.log(operation, what, (after[what] - before[what]) / TIMES);
  }
}

const codec = new Codec({
  keys: new KeyRing([Key.generate()]),
  audience: 'https://mcp.example.com',
});
const principal = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
const context = () => requestContext('tools/call', 'delete_note', call.arguments);
const sealer = codec.view(principal).requestState(context());
const payload = new TextEncoder().encode(JSON.stringify(FIRST));
const token = sealer.seal(payload);
assert.equal(payload.length, 256);

await count('seal', () => sealer.seal(payload));
await count('open', () => sealer.open(token));
await count('context', context);
await count('view', () => codec.view(principal).free());

const ask = await connected(factoryOf(guard()));
const state = { ...call, name: 'state' };
const { requestState } = await asked(ask, state);
await count('plain', () => asked(ask, { ...call, name: 'plain' }));
await count('state', () => asked(ask, { ...state, requestState }));

const askInSession = await connected(factoryOf(guard({ sessions: true })));
const { session } = (await askInSession('sessions/create', {})).result;
const { sessionId, state: sealed } = session;
const inSession = { ...call, name: 'session', _meta: { [SESSION]: { sessionId, state: sealed } } };
await count('session', () => asked(askInSession, inSession));
process.exit(0);
