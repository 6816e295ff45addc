// Sessions of SEP-1359 on stdio, for a peer that sends what no client of the SDK would.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { anonymous } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { LEGACY, MODERN } from './client.mjs';
import { codec, door, envelope, factoryOf, guardOf, overStdio, text } from './wire.mjs';

const cancelled = 'notifications/cancelled';

/** Tools that tell who called them, each as slow as its door. */
function served(guard, doors = {}) {
  return factoryOf(
    {
      'tools/list': () => ({ tools: [] }),
      'tools/call': async ({ params }, ctx) => {
        await doors[params.name]?.pass();
        return text(`${params.name} as ${JSON.stringify(ctx.mcpReq.id)}`);
      },
    },
    guard,
  );
}

/** A line of a new process, and sessions that others began. */
async function line(guard, factory, era = MODERN) {
  const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout });
  return { ...(await overStdio(factory, { streams, era })) };
}

async function begun(guard, era) {
  const { came, close } = await line(guard, served(guard), era ?? LEGACY);
  await close();
  return came.messages[0].result.sessionId;
}

const call = (id, name, sessionId) => ({
  ...{ id, method: 'tools/call', params: { name, arguments: {} } },
  ...(sessionId && { sessionId }),
});

test('an answer leaves with the session of its own request', async () => {
  const bad = [{ requestId: 1, reason: 5 }, { requestId: '1' }, { requestId: [1] }, undefined];
  for (const params of bad) {
    const guard = guardOf();
    const [one, two] = [await begun(guard), await begun(guard)];
    assert.notEqual(one, two);
    const doors = { first: door() };
    const { send, came, close } = await line(guard, served(guard, doors));
    send(call(1, 'first', one));
    await doors.first.came;
    if (params) send({ method: cancelled, params, sessionId: one });
    send(call(1, 'second', two));
    const { error } = await came.first(({ id }) => id === 1);
    assert.equal(error.code, -32600, 'its id is in use');
    send(call(2, 'third', two));
    send(call(3, 'fourth'));
    await came.first(({ id }) => id === 3);
    doors.first.open();
    await came.all(2, ({ id }) => id === 1);
    const answers = came.messages.filter(({ result }) => result?.content);
    assert.deepEqual(
      answers.map(({ id, result }) => [id, result.content[0].text, result.sessionId]),
      [
        [2, 'third as 2', two],
        [3, 'fourth as 3', undefined],
        [1, 'first as 1', one],
      ],
      JSON.stringify(params),
    );
    await close();
  }
});

test('what the server says by itself belongs to the session of all requests in progress', async () => {
  const guard = guardOf();
  const [one, two] = [await begun(guard), await begun(guard)];
  const progress = { method: 'notifications/progress', params: { progressToken: 1, progress: 1 } };
  const handler = async (_, ctx) => {
    await ctx.mcpReq.notify(progress);
    return text('done');
  };
  const { send, came, close } = await line(guard, factoryOf({ 'tools/call': handler }, guard));
  const said = [];
  for (const sessionId of [one, two, undefined, one]) {
    send(call(said.length, 'any', sessionId));
    said.push(sessionId);
    const those = await came.all(said.length, ({ method }) => method === progress.method);
    assert.deepEqual(
      those.map(({ sessionId }) => sessionId),
      said,
    );
  }
  await close();
});

test('what is cancelled is not answered, and its id is free for another', async () => {
  const guard = guardOf();
  const sessionId = await begun(guard);
  const doors = { slow: door() };
  const { send, came, close } = await line(guard, served(guard, doors));
  send(call(1, 'slow', sessionId));
  await doors.slow.came;
  send({ method: cancelled, params: { requestId: 1 }, sessionId });
  send(call(1, 'fast', sessionId));
  const { result } = await came.first(({ id }) => id === 1);
  assert.equal(result.content[0].text, 'fast as 1');
  doors.slow.open();
  send(call(2, 'last', sessionId));
  await came.first(({ id }) => id === 2);
  assert.equal(came.messages.filter(({ id }) => id === 1).length, 1);
  await close();
});

test("a request has any id that a client likes, and keeps the client's", async () => {
  const guard = guardOf();
  const sessionId = await begun(guard);
  const { send, came, close } = await line(guard, served(guard));
  for (const id of ['sealwax-replay', 'sealwax-1', '', 'x', 0, 7, -1]) {
    send(call(id, 'any', sessionId));
    const { result } = await came.first((message) => message.id === id);
    assert.equal(result.content[0].text, `any as ${JSON.stringify(id)}`);
    assert.equal(result.sessionId, sessionId);
  }
  // What the SDK takes for no request does not become one.
  for (const id of [null, 1.5, {}, [1], true]) send(call(id, 'none', sessionId));
  const refused = await came.all(5, ({ id }) => id === null);
  for (const { error } of refused) assert.equal(error.code, -32600);
  await close();
});

test('a handshake that the SDK refuses is not waited for, and its session is refused', async () => {
  const guard = guardOf();
  const session = codec.view(anonymous).session();
  const clientInfo = { name: 'x', version: '1' };
  for (const negotiated of [
    { protocolVersion: LEGACY, clientCapabilities: 7, clientInfo },
    { protocolVersion: LEGACY, clientCapabilities: {} },
    { protocolVersion: LEGACY, clientCapabilities: {}, clientInfo: { name: 7 } },
    { protocolVersion: 'of no revision', clientCapabilities: {}, clientInfo },
    { protocolVersion: '', clientCapabilities: {}, clientInfo },
  ]) {
    const sessionId = session.sealJson(negotiated);
    const { send, came, close } = await line(guard, served(guard));
    for (const id of [1, 'sealwax-replay']) {
      send(call(id, 'served', sessionId));
      const { error } = await came.first((message) => message.id === id);
      assert.equal(error.code, -32003);
    }
    assert.equal(came.messages.length, 2, 'the handshake is nobody else’s business');
    await close();
  }
});

test('a subscription keeps its name', async () => {
  const guard = guardOf();
  const { send, came, close } = await line(guard, served(guard));
  send({ id: 1, method: 'tools/list', params: { _meta: envelope } });
  const params = { _meta: envelope, notifications: { toolsListChanged: true } };
  send({ id: 'mine', method: 'subscriptions/listen', params });
  const { params: acknowledged } = await came.first(({ method }) => method !== undefined);
  assert.equal(acknowledged._meta['io.modelcontextprotocol/subscriptionId'], 'mine');
  await close();
});

// ---- its end ----
