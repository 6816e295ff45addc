// A request that is answered, cancelled or dropped frees its exchange in the module's memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { InMemoryTransport } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { Exchange } from './node_modules/sealwax/dist/esm/raw.js';
import { door, factoryOf, guardOf, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const cancelled = 'notifications/cancelled';

/** Exchanges in the module's memory, of which none may be left over. */
function counted() {
  const live = new Set();
  const { __wrap } = Exchange;
  const { free } = Exchange.prototype;
  Exchange.__wrap = (at) => {
    const exchange = __wrap.call(Exchange, at);
    live.add(exchange);
    return exchange;
  };
  Exchange.prototype.free = function () {
    live.delete(this);
    free.call(this);
  };
  return {
    live,
    restore() {
      Exchange.__wrap = __wrap;
      Exchange.prototype.free = free;
    },
  };
}

/** A protected server in memory, and its sessions. */
async function inMemory(guard, handlers) {
  const server = factoryOf(handlers, guard)();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const answers = [];
  theirs.onmessage = (message) => answers.push(message);
  await theirs.start();
  await server.connect(ours);
  const send = (message) => theirs.send({ jsonrpc: '2.0', ...message });
  return { answers, send, server };
}

const turn = () => new Promise(setImmediate);

test('a cancelled request frees its exchange, and a write to its session is an error', async () => {
  const { live, restore } = counted();
  try {
    const guard = guardOf();
    const sessions = guard.sessions({ initial: () => ({ count: 0 }) });
    const doors = [];
    const held = [];
    const { answers, send } = await inMemory(guard, {
      'tools/call': async (_, ctx) => {
        held.push(sessions.of(ctx));
        doors.push(door());
        await doors.at(-1).pass();
        return text('too late');
      },
    });
    await send({ id: 0, method: 'sessions/create', params: {} });
    await turn();
    const { sessionId, state } = answers[0].result.session;
    assert.equal(live.size, 0);
    for (let id = 1; id <= 50; id++) {
      const _meta = { [META]: { sessionId, state } };
      await send({ id, method: 'tools/call', params: { name: 'x', arguments: {}, _meta } });
    }
    while (held.length < 50) await turn();
    assert.equal(live.size, 50);
    held[0].write({ count: 1 }); // while the request is in progress
    for (let requestId = 1; requestId <= 50; requestId++) {
      await send({ method: cancelled, params: { requestId } });
    }
    await turn();
    assert.equal(live.size, 0);
    for (const session of held) {
      for (const late of [() => session.write({ count: 2 }), () => session.fork()]) {
        assert.throws(late, {
          code: 'invalid_argument',
          message: /before the result, not after/,
        });
      }
    }
    for (const each of doors) each.open();
    await turn();
    assert.equal(answers.length, 1);
    assert.equal(live.size, 0);
  } finally {
    restore();
  }
});

test('what is dropped before its handler ran leaves nothing behind', async () => {
  const { live, restore } = counted();
  try {
    for (const drop of ['cancel', 'close']) {
      const asked = door();
      const guard = guardOf({ principal: () => asked.pass().then(() => anonymous) });
      let ran = 0;
      const handler = () => {
        ran += 1;
        return text('ran');
      };
      const { answers, send, server } = await inMemory(guard, { 'tools/call': handler });
      await send({ id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } });
      await asked.came;
      // This is no cancellation for the SDK, nor for the guard.
      await send({ method: cancelled, params: { requestId: 1, reason: 5 } });
      if (drop === 'cancel') await send({ method: cancelled, params: { requestId: 1 } });
      else await server.close();
      asked.open();
      for (let turns = 0; turns < 5; turns += 1) await turn();
      assert.deepEqual([ran, answers, live.size], [0, [], 0], drop);
    }
  } finally {
    restore();
  }
});

test('who is in use when the connection closes is let go', async () => {
  const { live, restore } = counted();
  try {
    const slow = door();
    const handlers = { 'tools/call': () => slow.pass().then(() => text('late')) };
    const { answers, send, server } = await inMemory(guardOf(), handlers);
    await send({ id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } });
    await slow.came;
    assert.equal(live.size, 1);
    await server.close();
    assert.equal(live.size, 0);
    slow.open();
    await turn();
    assert.deepEqual(answers, []);
  } finally {
    restore();
  }
});

test('what begins after the end of its request is an error to its author', async () => {
  const guard = guardOf();
  const rows = guard.referenceHandles('row');
  const slow = door();
  let late;
  const { answers, send } = await inMemory(guard, {
    'tools/call': (_, ctx) => {
      late = slow.pass().then(() => rows.mint(ctx));
      late.catch(() => {});
      return text('soon');
    },
  });
  await send({ id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } });
  while (answers.length === 0) await turn();
  slow.open();
  await assert.rejects(late, { code: 'invalid_argument', message: /found it is over/ });
});
