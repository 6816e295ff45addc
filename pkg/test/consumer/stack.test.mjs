// What a host throws in the middle of a call, from a full stack or a clock, must not leave the module unusable.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answer, Codec, Key, requestContextFromJson } from 'sealwax';

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
const deep = `${'{"a":'.repeat(99)}1${'}'.repeat(99)}`;
const message = { method: 'tools/call', target: 'x', modern: true, args: deep };
let users = 0;

const calls = {
  seal: () => cursor.seal(new Uint8Array(64)),
  open: () => cursor.open(token),
  'a refusal': () => assert.throws(() => cursor.open('x'), { code: 'malformed' }),
  'a session': () => sessions.open(sent).free(),
  'a new user': () => codec.view({ subject: `${users++}` }).free(),
  'a handle': () => view.verifyHandle('row', handle),
  'a codec': () => new Codec({ keys, audience: 'x' }).free(),
  'an answer': () => answer('data-layer', { error: new TypeError() }),
  'a request': () => requestContextFromJson('tools/call', 'x', deep),
  'an exchange': () => {
    const exchange = engine.request(message, 'requestState', { anonymous: true });
    try {
      exchange.sealState(deep);
      exchange.result({ requestState: deep, resultType: 'input_required' });
    } finally {
      exchange.free();
    }
  },
  'a ledger': () => {
    const command = { script: 'open', keys: ['swl1:{a}:began', 'swl1:{a}:fence'], args: [] };
    assert.equal(new MemoryLedger({ capacity: 4096 }).run(command)[0], 'ok');
  },
};

/** Fills the stack, then calls at every depth on the way back until one call has the room. */
function fill(call, shift) {
  if (shift > 0) return fill(call, shift - 1);
  const errors = [];
  let isDone = false;
  const down = () => {
    try {
      down();
    } catch {
      // It is full.
    }
    if (isDone) return;
    try {
      call();
      isDone = true;
    } catch (error) {
      errors.push(error);
    }
  };
  down();
  return errors;
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name} where the stack is full`, () => {
    call();
    for (let shift = 0; shift < 40; shift += 1) {
      const errors = fill(call, shift);
      assert.ok(errors.length > 0);
      for (const error of errors) assert.ok(error instanceof RangeError, String(error));
      for (const after of Object.values(calls)) after();
    }
  });
}

for (const [object, name] of [
  [Date, 'now'],
  [performance, 'now'],
  [crypto, 'getRandomValues'],
]) {
  test(`${name} that throws`, () => {
    const own = Object.getOwnPropertyDescriptor(object, name);
    for (const bad of [
      () => {
        throw new Error('of the host');
      },
      () => Symbol('no number'),
    ]) {
      Object.defineProperty(object, name, { configurable: true, writable: true, value: bad });
      try {
        for (const call of Object.values(calls)) {
          for (let times = 0; times < 3; times += 1) {
            try {
              call();
            } catch {
              // What it is, the host's error or a refusal, is no matter here.
            }
          }
        }
      } finally {
        if (own) Object.defineProperty(object, name, own);
        else delete object[name];
      }
      for (const after of Object.values(calls)) after();
    }
  });
}
