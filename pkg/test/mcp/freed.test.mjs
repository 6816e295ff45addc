// A request that is answered, cancelled or dropped frees its exchange in the module's memory.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { test } from 'node:test';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, InMemoryTransport } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { LEGACY } from './client.mjs';
import { exchanges } from './node_modules/sealwax/dist/esm/raw.js';
import { door, factoryOf, guardOf, modern, overHttp, overStdio, requestOf, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const cancelled = 'notifications/cancelled';

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
  assert.equal(exchanges(), 0);
  for (let id = 1; id <= 50; id++) {
    const _meta = { [META]: { sessionId, state } };
    await send({ id, method: 'tools/call', params: { name: 'x', arguments: {}, _meta } });
  }
  while (held.length < 50) await turn();
  assert.equal(exchanges(), 50);
  held[0].write({ count: 1 }); // while the request is in progress
  for (let requestId = 1; requestId <= 50; requestId++) {
    await send({ method: cancelled, params: { requestId } });
  }
  await turn();
  assert.equal(exchanges(), 0);
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
  assert.equal(exchanges(), 0);
});

test('what is dropped before its handler ran leaves nothing behind', async () => {
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
    assert.deepEqual([ran, answers, exchanges()], [0, [], 0], drop);
  }
});

test('who is in use when the connection closes is let go', async () => {
  const slow = door();
  const handlers = { 'tools/call': () => slow.pass().then(() => text('late')) };
  const { answers, send, server } = await inMemory(guardOf(), handlers);
  await send({ id: 1, method: 'tools/call', params: { name: 'x', arguments: {} } });
  await slow.came;
  assert.equal(exchanges(), 1);
  await server.close();
  assert.equal(exchanges(), 0);
  slow.open();
  await turn();
  assert.deepEqual(answers, []);
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
  await assert.rejects(late, { code: 'invalid_argument', message: /a request in progress/ });
});

const name = { name: 'x', arguments: {} };
const settle = async () => {
  for (let turns = 0; turns < 20; turns += 1) await turn();
};

for (const sessions of [false, true]) {
  test(`whatever becomes of many requests, none is left over${sessions ? ', with sessions' : ''}`, async () => {
    const never = new Promise(() => {});
    const asked = door();
    const stays = [];
    let isSlow = false;
    const guard = guardOf({
      principal: () => (isSlow ? asked.pass().then(() => anonymous) : anonymous),
    });
    if (sessions) guard.sessions({ initial: () => 0 });
    const rows = guard.referenceHandles('row');
    const ends = {
      answered: () => text('done'),
      thrown: () => {
        throw new Error('of the handler');
      },
      sealed: (ctx) => text(guard.state(ctx, { round: 1 })),
      unsealed: () => ({ resultType: 'complete', content: [], requestState: 'own' }),
      handled: async (ctx) => text((await rows.mint(ctx)).handle),
      outlived(ctx) {
        stays.push(rows.mint(ctx).then(({ handle }) => rows.check(ctx, handle)));
        return text('soon');
      },
      never: () => never,
    };
    const { answers, send, server } = await inMemory(guard, {
      'tools/call': ({ params }, ctx) => ends[params.name](ctx),
      'prompts/list': ({ params }, ctx) =>
        params?._meta?.handle
          ? rows.mint(ctx).then(() => ({ prompts: [] }))
          : { prompts: [], ...(params?.cursor !== 'x' && { nextCursor: '2' }) },
      'resources/list': () => never,
    });
    let id = 0;
    const request = (method, params) => send({ id: ++id, method, params });
    for (let round = 0; round < 20; round += 1) {
      for (const name of Object.keys(ends)) {
        await request('tools/call', { name, arguments: { round } });
        await request('tools/call', { name, arguments: {}, requestState: 'refused' });
        await request('tools/call', { name, arguments: { id: 2 ** 53 } });
      }
      await request('prompts/list', {}); // begun late, for its cursor
      await request('prompts/list', { cursor: 'refused' });
      await request('prompts/list', { _meta: { handle: true } }); // begun late, for a handle
      await request('resources/list', {});
      await request('acme/unknown', {});
      await send({ method: 'notifications/initialized' });
      await settle();
    }
    const open = exchanges();
    assert.equal(open, sessions ? 60 : 40); // those that never answer, and need one
    await Promise.allSettled(stays);
    const told = answers.length;
    for (let requestId = 1; requestId <= id; requestId += 1) {
      for (const reason of [5, undefined])
        await send({ method: cancelled, params: { requestId, reason } });
    }
    await settle();
    assert.deepEqual([exchanges(), answers.length], [0, told]);

    // Nobody knows yet who calls.
    isSlow = true;
    await request('tools/call', { name: 'answered', arguments: {} });
    await request('tools/call', { name: 'answered', arguments: {} });
    await request('prompts/list', { cursor: 'x' });
    await request('prompts/list', { cursor: 'x' });
    await send({ method: cancelled, params: { requestId: id } });
    await send({ method: cancelled, params: { requestId: id - 2 } });
    asked.open();
    await settle();
    assert.deepEqual([exchanges(), answers.length], [0, told + 2]);

    isSlow = false;
    for (const name of ['never', 'outlived']) await request('tools/call', { name, arguments: {} });
    await request('resources/list', {});
    await server.close();
    await Promise.allSettled(stays);
    assert.equal(exchanges(), 0);
  });
}

test('a list that seals nothing begins no exchange, and one that ends before its handler did gets none', async () => {
  const guard = guardOf();
  const rows = guard.referenceHandles('row');
  const slow = door();
  const seen = [];
  let late;
  const { answers, send } = await inMemory(guard, {
    'tools/list': () => {
      seen.push(exchanges());
      return { tools: [] };
    },
    'prompts/list': (_, ctx) => {
      late = slow.pass().then(() => rows.mint(ctx));
      late.catch(() => {});
      return late.then(() => ({ prompts: [] }));
    },
  });
  await send({ id: 1, method: 'tools/list', params: {} });
  await settle();
  assert.deepEqual([answers.length, seen], [1, [0]]);
  await send({ id: 2, method: 'prompts/list', params: {} });
  await slow.came;
  await send({ method: cancelled, params: { requestId: 2 } });
  await settle();
  slow.open();
  await assert.rejects(late, { code: 'invalid_argument', message: /a request in progress/ });
  assert.deepEqual([answers.length, exchanges()], [1, 0]);
});

test('over HTTP none is left over, whether it is answered, refused or hung up on', async () => {
  const never = new Promise(() => {});
  const guard = guardOf();
  const came = door();
  const factory = factoryOf(
    {
      'tools/call': async ({ params }) => {
        if (params.name !== 'slow') return text('done');
        came.pass();
        return never;
      },
    },
    guard,
  );
  for (const token of [undefined, 'refused']) {
    const params = { ...name, ...(token && { requestState: token }) };
    for (let id = 1; id <= 20; id += 1) {
      const [answer] = (await overHttp(factory, ...modern(id, 'tools/call', params))).messages;
      assert.equal('result' in answer, token === undefined);
    }
  }
  assert.equal(exchanges(), 0);
  const gone = new AbortController();
  const request = requestOf(...modern(1, 'tools/call', { name: 'slow', arguments: {} }));
  const hungUp = createMcpHandler(factory).fetch(new Request(request, { signal: gone.signal }));
  await came.came;
  assert.equal(exchanges(), 1);
  gone.abort();
  await hungUp;
  await settle();
  assert.equal(exchanges(), 0);
});

test('over HTTP with sessions none is left over, whatever becomes of them', async () => {
  const guard = guardOf();
  const factory = factoryOf({ 'tools/call': () => text('done') }, guard);
  const plain = createMcpHandler(factory).fetch;
  const handler = guard.fetch(plain);
  const initialize = {
    ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
    params: {
      ...{ protocolVersion: LEGACY, capabilities: {} },
      clientInfo: { name: 'wire', version: '1' },
    },
  };
  const begun = await handler(requestOf(initialize));
  const session = begun.headers.get('mcp-session-id');
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: name };
  const failing = guard.fetch(() => Promise.reject(new Error()));
  for (const [one, id, status] of [
    [handler, session, 200],
    [handler, 'refused', 404],
    [handler, undefined, 400],
    [failing, session, 500],
  ]) {
    const headers = { 'mcp-protocol-version': LEGACY, ...(id && { 'mcp-session-id': id }) };
    const response = await one(requestOf(call, headers));
    assert.equal(response.status, status);
    await response.text();
  }
  await settle();
  assert.equal(exchanges(), 0);
});

test('clients that leave while a tool of 1.x works, and is to answer with JSON, leave nothing behind', {
  timeout: 30_000,
}, async (t) => {
  const never = new Promise(() => {});
  const guard = guardOf();
  let came = 0;
  const tool = () => {
    came += 1;
    return never;
  };
  const factory = factoryOf({ 'tools/call': tool }, guard);
  const listener = guard.listener(
    async (request, response) => {
      const settings = { sessionIdGenerator: undefined, enableJsonResponse: true };
      const transport = new StreamableHTTPServerTransport(settings);
      const server = factory();
      response.on('close', () => server.close());
      await server.connect(transport);
      await transport.handleRequest(request, response, request.body);
    },
    { required: false },
  );
  const server = createServer(listener).listen(0, '127.0.0.1');
  t.after(() => server.closeAllConnections() ?? server.close());
  await once(server, 'listening');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  for (let id = 1; id <= 5; id += 1) {
    const sent = request({ port: server.address().port, method: 'POST', headers });
    sent.on('error', () => {});
    sent.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: name }));
    while (came < id) await turn();
    sent.destroy();
  }
  while (exchanges() > 0) await turn();
});

test('on stdio with sessions none is left over', async () => {
  const guard = guardOf();
  const slow = door();
  const factory = factoryOf(
    { 'tools/call': ({ params }) => (params.name === 'slow' ? slow.pass() : text('done')) },
    guard,
  );
  let outward;
  const streams = (stdin, stdout) => {
    const both = sessionStreams(guard, { stdin, stdout });
    outward = both[1];
    return both;
  };
  const line = await overStdio(factory, { streams, era: LEGACY });
  for (const sessionId of [line.came.messages[0].result.sessionId, 'refused', undefined]) {
    for (let id = 1; id <= 10; id += 1)
      line.send({ id, method: 'tools/call', params: name, sessionId });
    line.send({
      method: 'notifications/progress',
      params: { progressToken: 1, progress: 1 },
      sessionId,
    });
    await line.came.all(10, ({ id }) => Number.isInteger(id));
    line.came.messages.length = 0;
  }
  await settle();
  assert.equal(exchanges(), 0);
  line.send({ id: 1, method: 'tools/call', params: { name: 'slow', arguments: {} } });
  await slow.came;
  assert.equal(exchanges(), 1);
  await line.close();
  outward.end();
  await settle();
  assert.equal(exchanges(), 0);
});
