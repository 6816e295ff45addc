// A request that is cancelled, dropped or hung up on frees its exchange in the module's memory. One that is answered does so in
// every transcript: scenario.mjs looks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { LEGACY, sending, serving } from './client.mjs';
import { first } from './majors.mjs';
import { exchanges } from './node_modules/sealwax/dist/esm/raw.js';
import {
  door,
  factoryOf,
  guardOf,
  initialize,
  inMemory,
  requestOf,
  text,
  within,
} from './wire.mjs';

const cancelled = 'notifications/cancelled';
const name = { name: 'x', arguments: {} };

const turn = () => new Promise(setImmediate);
const settle = async () => {
  for (let turns = 0; turns < 20; turns += 1) await turn();
};

test('what is done in a request after its end is an error to its author', async () => {
  for (const end of ['cancelled', 'answered']) {
    const guard = guardOf();
    const sessions = guard.sessions({ initial: () => ({ count: 0 }) });
    const rows = guard.referenceHandles('row');
    const slow = door();
    let [session, late, underWay] = [];
    const { answers, send } = await inMemory(guard, {
      'tools/call': (_, ctx) => {
        session = sessions.of(ctx);
        session.write({ count: 1 });
        late = slow.pass().then(() => rows.mint(ctx));
        late.catch(() => {});
        underWay = rows.mint(ctx).then(({ handle }) => rows.check(ctx, handle));
        underWay.catch(() => {});
        return end === 'answered' ? text('soon') : late;
      },
    });
    await send({ id: 0, method: 'sessions/create', params: {} });
    await turn();
    const params = { ...name, ...within(answers[0].result.session) };
    await send({ id: 1, method: 'tools/call', params });
    await slow.came;
    if (end === 'cancelled') await send({ method: cancelled, params: { requestId: 1 } });
    await settle();
    await Promise.allSettled([underWay]);
    assert.equal(exchanges(), 0);
    const over = { code: 'invalid_argument', message: /before the result, not after/ };
    assert.throws(() => session.write({ count: 2 }), over);
    assert.throws(() => session.fork(), over);
    slow.open();
    await assert.rejects(late, { code: 'invalid_argument', message: /a request in progress/ });
    await settle();
    assert.deepEqual([exchanges(), answers.length], [0, end === 'answered' ? 2 : 1]);
  }
});

for (const where of ['principal', 'handler']) {
  for (const how of ['cancelled', 'closed']) {
    test(`a request that is ${how} in its ${where} leaves nothing behind`, async () => {
      const slow = door();
      const waits = (place) => (place === where ? slow.pass() : undefined);
      const guard = guardOf({ principal: async () => (await waits('principal')) ?? anonymous });
      let ran = 0;
      const { answers, send, server } = await inMemory(guard, {
        'tools/call': async () => {
          ran += 1;
          await waits('handler');
          return text('late');
        },
      });
      await send({ id: 1, method: 'tools/call', params: name });
      await slow.came;
      // This is no cancellation for the SDK, nor for the guard.
      await send({ method: cancelled, params: { requestId: 1, reason: 5 } });
      await settle();
      assert.equal(exchanges(), where === 'handler' ? 1 : 0);
      if (how === 'cancelled') await send({ method: cancelled, params: { requestId: 1 } });
      else await server.close();
      await turn();
      // A handler that goes on holds nothing.
      if (where === 'handler') assert.equal(exchanges(), 0);
      slow.open();
      await settle();
      assert.deepEqual([ran, answers, exchanges()], [where === 'handler' ? 1 : 0, [], 0]);
    });
  }
}

const former = await first('@modelcontextprotocol/sdk', { enableJsonResponse: true });
/** Listeners of HTTP, by the major of the SDK. */
const listeners = {
  '2.x': (guard, factory) => guard.node(createMcpHandler(factory).fetch),
  '1.x, which is to answer with JSON': (guard, factory) =>
    former.wrapped(factory, guard, { required: false }),
};

for (const [major, listenerOf] of Object.entries(listeners)) {
  test(`HTTP, ${major}: clients that leave while a tool works leave nothing behind`, {
    timeout: 30_000,
  }, async (t) => {
    const guard = guardOf();
    let came = 0;
    const tool = () => {
      came += 1;
      return new Promise(() => {});
    };
    const url = await serving(t, listenerOf(guard, factoryOf({ 'tools/call': tool }, guard)));
    const headers = Object.fromEntries(requestOf({}).headers);
    for (let id = 1; id <= 5; id += 1) {
      const sent = sending(url, { headers });
      sent.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: name }));
      while (came < id) await turn();
      sent.destroy();
    }
    while (exchanges() > 0) await turn();
  });
}

const posted = (message, signal) =>
  new Request(requestOf({ jsonrpc: '2.0', ...message }), { signal });
const begins = (id) => ({ jsonrpc: '2.0', id, result: { protocolVersion: LEGACY } });

test('an answer whose body the handler has read frees its exchange', async () => {
  let isRead = false;
  const answers = async (_, { parsedBody: { id } }) => {
    const response = Response.json(begins(id));
    if (isRead) await response.text();
    return response;
  };
  const fetch = guardOf().fetch(answers, { sep1359: true });
  const { result } = await (await fetch(posted(initialize))).json();
  isRead = true;
  const { status } = await fetch(posted({ id: 1, method: 'ping', sessionId: result.sessionId }));
  assert.deepEqual([status, exchanges()], [500, 0]);
});

test('a client that leaves while its session begins is no fault of the handler', async () => {
  const lines = [];
  const guard = guardOf({ logger: { warn: (line) => lines.push(line) } });
  const slow = door();
  const pull = async (to) => {
    await slow.pass();
    to.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(begins('first'))}\n\n`));
    to.close();
  };
  const headers = { 'content-type': 'text/event-stream' };
  // Nothing is read before the guard does.
  const body = () => new ReadableStream({ pull }, { highWaterMark: 0 });
  const fetch = guard.fetch(async () => new Response(body(), { headers }));
  const gone = new AbortController();
  const answer = fetch(posted(initialize, gone.signal));
  await slow.came;
  gone.abort();
  await answer;
  slow.open();
  await settle();
  assert.deepEqual([lines, exchanges()], [[], 0]);
});
