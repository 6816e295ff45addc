// node failing-imports.mjs NAME AT: lets the imports of the module fail, from that number in their order and from that call on,
// until one ended the module. Prints what each did, and where to go on.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import {
  answer,
  Codec,
  inspect,
  Key,
  requestContextFromJson,
  SealwaxError,
  start,
} from 'sealwax/slim';

const calls = new Map();
let failing = { name: '', at: 0 };

class OfTheHost extends Error {}

const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(module, given) {
    const imports = {};
    for (const [from, functions] of Object.entries(given)) {
      imports[from] = {};
      for (const [name, call] of Object.entries(functions)) {
        calls.set(name, 0);
        imports[from][name] = (...args) => {
          calls.set(name, calls.get(name) + 1);
          if (failing.name === name && calls.get(name) === failing.at) throw new OfTheHost(name);
          return call(...args);
        };
      }
    }
    super(module, imports);
  }
};
const MODULE = createRequire(import.meta.url).resolve('sealwax/sealwax.wasm');
start(new WebAssembly.Module(readFileSync(MODULE)));
const { Engine } = await import(new URL('mcp/engine.js', import.meta.resolve('sealwax')).href);
const { MemoryLedger } = await import(
  new URL('mcp/ledger/ledger.js', import.meta.resolve('sealwax')).href
);

const keys = Key.generate().toText();
const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
const view = codec.view({ subject: 'alice' });
const cursor = view.cursor('tools/list');
const sessions = view.sessions();
const token = cursor.sealJson({ page: 2 });
const sent = sessions.create(new Uint8Array(64));
const handle = view.mintHandle('row');
const engine = new Engine(codec, { sessions: {} });
const ledger = new MemoryLedger({ capacity: 4096 });
const open = { script: 'open', keys: ['swl1:{a}:began', 'swl1:{a}:fence'], args: [] };
const nonces = new Set();
let sealed = 0;
const keep = (text) => {
  nonces.add(inspect(text).tokenId);
  sealed += 1;
};

function refused(text) {
  try {
    cursor.open(text);
  } catch (error) {
    if (error.code === 'malformed') return;
    throw error;
  }
  assert.fail('expected a refusal');
}

const works = [
  () => keep(cursor.seal(new Uint8Array(64))),
  () => cursor.open(token),
  () => refused('x'),
  () => refused('é'.repeat(9)),
  () => sessions.open(sent).free(),
  () => keep(sessions.renew(sessions.open(sent), new Uint8Array(1)).state),
  () => codec.view({ issuer: 'i', subject: 'bob' }).free(),
  () => view.verifyHandle('row', handle),
  () => inspect(view.mintSessionId()),
  () => inspect(handle),
  () => inspect(keys),
  () => new Codec({ keys, audience: 'x', skew: 1 }).free(),
  () => codec.setKeys(keys),
  () => answer('data-layer', { sessionId: 'x' }),
  () => answer('handle'),
  () => requestContextFromJson('tools/call', 'x', '{"a":[1,"é"]}'),
  () => {
    const exchange = engine.request({ method: 'tools/call', target: 'x' }, 'requestState', {
      anonymous: true,
    });
    try {
      keep(exchange.sealState('{}'));
    } finally {
      exchange.free();
    }
  },
  () => assert.equal(ledger.run(open)[0], 'ok'),
];
// What is made when it is first needed is made now.
for (const work of works) work();

/** How the package is after a failure: works all of it, or has all of it ended? */
function state() {
  const outcomes = new Set();
  for (const work of works) {
    try {
      work();
      outcomes.add('works');
    } catch (error) {
      assert.ok(
        error instanceof SealwaxError,
        `${failing.name} ${failing.at}: ${work}: ${error.stack}`,
      );
      assert.equal(error.code, 'internal_error');
      assert.match(error.message, /start this process/);
      assert.equal(error.isRefusal, false);
      outcomes.add('ended');
    }
  }
  assert.equal(outcomes.size, 1, `${failing.name} ${failing.at}: ${[...outcomes]}`);
  return [...outcomes][0];
}

const names = [...calls.keys()].filter((name) => !/throw|init_externref/.test(name));
let [name, at] = process.argv.slice(2).map(Number);
const outcomes = [];
let next;
for (; name < names.length && next === undefined; name += 1, at = 1) {
  for (; ; at += 1) {
    calls.set(names[name], 0);
    failing = { name: names[name], at };
    for (const work of works) {
      try {
        work();
      } catch {
        // What it is is no matter: after the failure only.
      }
      if (calls.get(names[name]) >= at) break;
    }
    const hit = calls.get(names[name]) >= at;
    failing = { name: names[name], at: -at };
    if (!hit) break;
    const outcome = state();
    outcomes.push({ name: names[name], outcome });
    if (outcome === 'ended') {
      next = { name, at: at + 1 };
      break;
    }
  }
}
assert.equal(nonces.size, sealed);
console.log(JSON.stringify({ outcomes, next }));
