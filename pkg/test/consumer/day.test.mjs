// A day of traffic in simulated time, after which memory is as it was in the morning: users call a tool in two rounds, sessions
// go on, idle and expire, keys rotate each hour, and users are signed out. SEALWAX_EXCHANGES=1000000 takes some minutes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Codec, Key, KeyRing } from 'sealwax/slim';
import { exported, internal, started } from './exported.mjs';

started();
const { Engine } = await internal('mcp/engine.js');
const { MemoryLedger } = await internal('mcp/ledger/memory.js');
const { addClock } = await internal('input.js');

const EACH = Math.floor(Number(process.env.SEALWAX_EXCHANGES ?? 1200) / 24);
const IDLE = 1800;
let now = 1_800_000_000_000;
let keys = [Key.generate()];
const codec = new Codec(
  { keys: new KeyRing(keys), audience: 'a', sessionMaxAge: 7200 },
  addClock(() => now),
);
const engine = new Engine(codec, { sessions: { ttl: IDLE }, ledger: { local: true } });
const ledger = new MemoryLedger({}, () => now);
const sessions = Array.from({ length: 32 });
const seen = {};

function ask(exchange, first) {
  let step = first;
  while (step.name === 'ledger') step = exchange.told({ value: JSON.stringify(ledger.run(step)) });
  return step;
}

function begin(user, more) {
  const message = { method: 'tools/call', target: 't', modern: true, ...more };
  const exchange = engine.request(message, 'requestState', [undefined, undefined, String(user)]);
  const step = ask(exchange, exchange.first);
  const code = step.refused?.[0].code ?? 'delivered';
  seen[code] = (seen[code] ?? 0) + 1;
  return [exchange, step];
}

function end(exchange, result) {
  const step = ask(exchange, exchange.result(result));
  assert.equal(step.step, 'respond');
  exchange.free();
  return step;
}

function twoRounds(user) {
  const [asking] = begin(user);
  const token = asking.sealState('{"page":2}');
  end(asking, { resultType: 'input_required', requestState: token });
  const [answered, step] = begin(user, { token });
  assert.equal(step.opened, '{"page":2}');
  end(answered, { resultType: 'complete' });
  begin(user, { token })[0].free();
}

function session(at) {
  if (sessions[at] === undefined) {
    const view = codec.view({ subject: String(at) });
    const { sessionId, state } = view.sessions({ ttl: IDLE }).create(new TextEncoder().encode('0'));
    sessions[at] = { id: sessionId, state };
    view.free();
  }
  const [exchange, step] = begin(at, { session: sessions[at] });
  sessions[at] = undefined;
  if (step.step === 'reply') return exchange.free();
  exchange.write('{"count":1}');
  const [[, { sessionId, state }]] = end(exchange, { resultType: 'complete' }).set;
  sessions[at] = { id: sessionId, state };
}

function passAnHour(hour) {
  for (let at = 0; at < EACH; at += 1) {
    now += 3_600_000 / EACH;
    twoRounds(at % 100);
    // Now sooner than it is idle for too long, now later.
    session(((at * 7919) % 101) % 32);
  }
  keys = [Key.generate(), keys[0]];
  const next = new KeyRing(keys);
  assert.ok(codec.setKeys(next));
  next.free();
  const revoking = engine.revoke({ subject: String(hour) }, 3600);
  assert.equal(ask(revoking, revoking.first).step, 'done');
  revoking.free();
}

/** How far the module's memory is filled: the highest of some new allocations. */
function filled() {
  const taken = Array.from({ length: 16 }, () => exported.__wbindgen_malloc(1024, 1));
  for (const at of taken) exported.__wbindgen_free(at, 1024, 1);
  return Math.max(...taken);
}

test('memory is flat over a day', async (t) => {
  const found = [];
  for (let hour = 0; hour < 24; hour += 1) {
    passAnHour(hour);
    for (let turn = 0; turn < 3; turn += 1) {
      globalThis.gc();
      // Finalisers run between turns of the event loop.
      await new Promise(setImmediate);
    }
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    found.push([exported.memory.buffer.byteLength, filled(), heapUsed + arrayBuffers]);
  }
  for (const [at, name] of ['memory', 'filled', 'heap'].entries()) {
    const most = (from, to) => Math.max(...found.slice(from, to).map((hour) => hour[at]));
    const [morning, evening] = [most(4, 10), most(20, 24)];
    t.diagnostic(`${name}: ${morning >> 10} kB in the morning, ${evening >> 10} kB in the evening`);
    assert.ok(evening < morning * 1.1 + 256 * 1024, `${name}: ${found.map((hour) => hour[at])}`);
  }
  t.diagnostic(JSON.stringify(seen));
  assert.ok(seen.used >= EACH * 24);
  assert.ok(seen.expired + seen.unknown_key > 10);
});
