// The client's side of data-layer sessions, against real servers.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Key } from 'sealwax';
import { ClientSessions, sessionFetch } from 'sealwax/mcp/client';
import { bearer, connected, LEGACY, MODERN, told, transports } from './client.mjs';

const keys = Key.generate().toText();
const config = { keys, sessions: { required: { tools: ['count'] } }, accept: 'single' };
const owner = { server: 'test', user: 'alice' };
const count = { name: 'count', arguments: {} };
const counted = (result) => told({ result }).value.count;

/** A store that says what it was told, and outlives whoever has it. */
function store() {
  const kept = new Map();
  const told = [];
  return {
    ...{ kept, told },
    load: async (key) => kept.get(key),
    async save(key, metadata) {
      told.push('save');
      kept.set(key, JSON.parse(JSON.stringify(metadata)));
    },
    async remove(key) {
      told.push('remove');
      kept.delete(key);
    },
  };
}

for (const transport of ['http', 'stdio']) {
  for (const era of [MODERN, LEGACY]) {
    describe(`client, ${transport}, revision ${era}`, () => {
      let server;
      let client;
      before(async () => {
        server = await transports[transport](config);
        ({ client } = await server.connect('alice', era));
      });
      after(() => server.close());

      test('it updates the state, one call after another', async () => {
        const session = await new ClientSessions().open(client, owner);
        const results = await Promise.all([1, 2, 3].map(() => session.callTool(count)));
        assert.deepEqual(results.map(counted), [1, 2, 3]);
        const result = await session.request({ method: 'tools/call', params: count });
        assert.equal(counted(result), 4);
        assert.ok(Date.parse(session.expiresAt) > Date.now());
      });

      test('what fails holds up nobody', async () => {
        const session = await new ClientSessions().open(client, owner);
        const read = { method: 'resources/read', params: { uri: 'fail:///1' } };
        const [failed, called] = await Promise.allSettled([
          session.request(read),
          session.callTool(count),
        ]);
        assert.equal(failed.status, 'rejected');
        assert.equal(counted(called.value), 1);
      });

      test('each owner has one, and it outlives the process', async () => {
        const kept = store();
        const sessions = new ClientSessions(kept);
        const [one, same, named, other] = await Promise.all([
          sessions.open(client, owner),
          sessions.open(client, owner),
          sessions.open(client, { ...owner, name: 'second' }),
          sessions.open(client, { ...owner, user: 'bob' }),
        ]);
        assert.equal(kept.kept.size, 3);
        await one.callTool(count);
        assert.equal(counted(await same.callTool(count)), 2);
        assert.equal(counted(await named.callTool(count)), 1);
        assert.equal(counted(await other.callTool(count)), 1);
        const again = await new ClientSessions(kept).open(client, owner);
        assert.equal(counted(await again.callTool(count)), 3);
      });

      test('a deleted session is gone here and there', async () => {
        const kept = store();
        const sessions = new ClientSessions(kept);
        const session = await sessions.open(client, owner);
        const [[, metadata]] = kept.kept;
        await session.callTool(count);
        await session.delete();
        await session.delete();
        assert.deepEqual(kept.told, ['save', 'save', 'remove']);
        await assert.rejects(session.callTool(count), /open a new one/);
        const anew = await sessions.open(client, owner);
        assert.equal(counted(await anew.callTool(count)), 1);

        // Whoever has it all the same learns that it is over, and drops it.
        const stale = store();
        stale.kept.set(JSON.stringify(['test', 'alice', '']), metadata);
        const late = await new ClientSessions(stale).open(client, owner);
        await assert.rejects(late.callTool(count), { code: -32043 });
        assert.equal(stale.kept.size, 0);
        stale.kept.set(JSON.stringify(['test', 'alice', '']), metadata);
        await (await new ClientSessions(stale).open(client, owner)).delete();
        assert.equal(stale.kept.size, 0);
      });
    });
  }
}

test('over HTTP, the id is in the header too', async () => {
  const server = await transports.http(config);
  for (const era of [MODERN, LEGACY]) {
    const seen = [];
    const fetch = sessionFetch((url, init) => {
      seen.push(new Headers(init.headers).get('mcp-session-id'));
      return globalThis.fetch(url, init);
    });
    const requestInit = { headers: { authorization: await bearer('alice') } };
    const transport = new StreamableHTTPClientTransport(server.url, { fetch, requestInit });
    const { client } = await connected(transport, era);
    const kept = store();
    const session = await new ClientSessions(kept).open(client, owner);
    assert.equal(counted(await session.callTool(count)), 1);
    const [{ sessionId }] = kept.kept.values();
    assert.deepEqual(seen.filter(Boolean), [sessionId]);
    await client.close();
  }
  await server.close();
});

test('a header of the transport stays', async () => {
  const server = await transports.http({ ...config, fetch: {} });
  const requestInit = { headers: { authorization: await bearer('alice') } };
  const options = { fetch: sessionFetch(), requestInit };
  const transport = new StreamableHTTPClientTransport(server.url, options);
  const { client } = await connected(transport, LEGACY);
  const session = await new ClientSessions().open(client, owner);
  assert.equal(counted(await session.callTool(count)), 1);
  await client.close();
  await server.close();
});
