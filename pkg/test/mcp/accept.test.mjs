// What an author's `accept` is to remember: how long, and what is said where nothing remembers.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { anonymous, Key } from 'sealwax';
import { ClientSessions } from 'sealwax/mcp/client';
import { bearer, LEGACY, MODERN, transports } from './client.mjs';
import { once } from './once.mjs';
import { codec, factoryOf, guardOf, modern, overHttp, requestOf, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const keys = Key.generate().toText();
const { now } = Date;
const closing = [];
afterEach(async () => {
  Date.now = now;
  await Promise.all(closing.splice(0).map((server) => server.close()));
});

async function serve(config, transport = 'http') {
  const server = await transports[transport]({ keys, ...config });
  closing.push(server);
  return server;
}

// ---- how long ----

/** An `accept` that tells what it was asked. */
function recorder() {
  const asked = [];
  const tell = (token) => {
    asked.push(token);
    return true;
  };
  return { asked, accept: tell, ended: tell };
}

test('an id is remembered until nothing of it opens on any clock', async () => {
  const accept = recorder();
  const guard = guardOf({ accept, requestStateTtl: 60 });
  const rows = guard.referenceHandles('row', { maxAge: 60 });
  const [rowsOfKeys, baskets, basketsWithoutEnd] = [
    guard.referenceHandles('key'),
    guard.selfContainedHandles('basket', { ttl: 60 }),
    guard.selfContainedHandles('endless'),
  ];
  guard.sessions({ initial: () => 0, ttl: 60 });
  const factory = factoryOf(
    {
      'tools/call': async (_, ctx) => {
        const [row, key] = [await rows.mint(ctx), await rowsOfKeys.mint(ctx)];
        const basket = await baskets.seal(ctx, 0);
        await rows.check(ctx, row.handle);
        await rows.end(ctx, row.handle);
        await rowsOfKeys.check(ctx, key.handle);
        await baskets.open(ctx, basket.handle);
        await baskets.end(ctx, basket.handle);
        return { ...text('made'), handle: row.handle, end: basket.opened.expiresAt };
      },
    },
    guard,
  );
  const call = { name: 'x', arguments: {} };
  const [{ result }] = (await overHttp(factory, ...modern(1, 'tools/call', call))).messages;
  const { endsAtMs } = codec.view(anonymous).verifyHandle('row', result.handle, { maxAge: 60 });
  assert.notEqual(basketsWithoutEnd, baskets);
  const ofRow = Math.ceil(endsAtMs / 1000) + 300;
  const ofBasket = result.end + 300;
  assert.deepEqual(
    accept.asked.splice(0).map(({ kind, expiresAt }) => [kind, expiresAt]),
    [
      ['handle', ofRow],
      ['handle', ofRow],
      ['handle', null],
      ['handle-state', ofBasket],
      ['handle-state', ofBasket],
    ],
  );

  const [created] = (await overHttp(factory, ...modern(2, 'sessions/create'))).messages;
  const { sessionId } = created.result.session;
  const ends = codec.view(anonymous).sessions().verify(sessionId).endsAtMs;
  const _meta = { [META]: { sessionId } };
  await overHttp(factory, ...modern(3, 'sessions/delete', { _meta }));
  assert.deepEqual(
    accept.asked.map(({ kind, expiresAt }) => [kind, expiresAt]),
    [1, 2].map(() => ['session', Math.ceil(ends / 1000) + 300]),
  );
});

// ---- where nothing remembers ----

test('HTTP: DELETE is no method where nothing remembers that a session ends', async () => {
  const server = await serve({ fetch: {} });
  const client = await server.connect('alice', LEGACY);
  const { transport } = client.client;
  const headers = { authorization: await bearer('alice'), 'mcp-session-id': transport.sessionId };
  for (const sent of [
    headers,
    { ...headers, 'mcp-session-id': 'x' },
    { authorization: headers.authorization },
  ]) {
    const response = await fetch(server.url, { method: 'DELETE', headers: sent });
    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'GET, POST');
    assert.equal(await response.text(), '');
  }
  // The official client takes it for a server that ends none.
  await transport.terminateSession();
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const still = await fetch(server.url, {
    ...{ method: 'POST', body },
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });
  assert.match(await still.text(), /"result"/);
  const remembering = await serve({ fetch: {}, accept: 'single' });
  const other = await remembering.connect('alice', LEGACY);
  const ended = { ...headers, 'mcp-session-id': other.client.transport.sessionId };
  const response = await fetch(remembering.url, { method: 'DELETE', headers: ended });
  assert.equal(response.status, 204);
});

for (const transport of ['http', 'stdio']) {
  for (const era of [MODERN, LEGACY]) {
    test(`${transport}, ${era}: the client forgets a session that nothing remembers`, async () => {
      const server = await serve({ sessions: {} }, transport);
      const { client } = await server.connect('alice', era);
      const kept = new Map();
      const store = {
        load: (key) => kept.get(key),
        save: (key, metadata) => void kept.set(key, metadata),
        remove: (key) => void kept.delete(key),
      };
      const sessions = new ClientSessions(store);
      const session = await sessions.open(client, { server: 'test', user: 'alice' });
      assert.equal(kept.size, 1);
      await session.delete();
      assert.equal(kept.size, 0);
      await assert.rejects(session.callTool({ name: 'count' }), /open a new one/);
    });
  }
}

test('HTTP, SEP-1359: session/terminate is a request, and needs a memory', async () => {
  const initialize = {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: {
      ...{ protocolVersion: LEGACY, capabilities: {} },
      clientInfo: { name: 'x', version: '1' },
    },
  };
  const terminate = { jsonrpc: '2.0', method: 'session/terminate' };
  for (const accept of [undefined, once()]) {
    const events = [];
    const guard = guardOf({ onRefused: (event) => events.push(event), ...(accept && { accept }) });
    const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
    const handler = guard.fetch(createMcpHandler(factory).fetch, { sep1359: true });
    const begun = await handler(requestOf(initialize));
    await begun.text();
    const sessionId = begun.headers.get('mcp-session-id');
    const post = async (message) => {
      const response = await handler(requestOf({ ...message, sessionId }));
      return { status: response.status, text: await response.text() };
    };
    // Without an id it is a notification, which ends nothing.
    for (const id of [undefined, null]) {
      const { status, text } = await post({ ...terminate, id });
      if (accept) {
        const { id, error } = JSON.parse(text);
        assert.deepEqual([status, id, error.code], [400, null, -32600]);
        assert.equal(events.at(-1).code, 'malformed');
        assert.match(events.at(-1).message, /expected session\/terminate as a request/);
      } else {
        assert.deepEqual([status, text, events], [202, '', []]);
      }
    }
    const ping = { jsonrpc: '2.0', id: 2, method: 'ping' };
    assert.match((await post(ping)).text, /"result"/);
    const ended = await post({ ...terminate, id: 3 });
    assert.equal(ended.status, 200);
    if (accept) assert.deepEqual(JSON.parse(ended.text), { jsonrpc: '2.0', id: 3, result: {} });
    else assert.match(ended.text, /"error":\{"code":-32601,"message":"Method not found"\}/);
    const after = (await post(ping)).text;
    assert.match(after, accept ? /"code":-32003/ : /"result"/);
  }
});
