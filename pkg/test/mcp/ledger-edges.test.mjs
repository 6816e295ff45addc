// A ledger at the edges: the client's helper, stdio, requests that are cancelled, an engine that is full.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answer } from 'sealwax';
import { MemoryLedger } from 'sealwax/mcp';
import { ClientSessions } from 'sealwax/mcp/client';
import { LEGACY, MODERN, told } from './client.mjs';
import { closing, META, newFile, refused, replica, STALE, serve, within } from './fleet.mjs';
import { ledgerOf, noSqlite } from './ledgers.mjs';
import { door, factoryOf, guardOf, overStdio, text } from './wire.mjs';

// ---- the client's helper ----

for (const transport of ['http', 'stdio']) {
  for (const era of [MODERN, LEGACY]) {
    test(`${transport}, ${era}: the client goes on with the latest state`, {
      skip: noSqlite,
    }, async () => {
      const ledger = { engine: 'sqlite', path: newFile() };
      const server = await serve(transport, {
        sessions: {},
        ledger: transport === 'http' ? ledgerOf(ledger) : ledger,
      });
      const clients = [await server.connect('alice', era), await server.connect('alice', era)];
      const kept = new Map();
      const hosts = await Promise.all(
        clients.map(async ({ client }, at) => {
          const store = {
            load: () => kept.get(0),
            save: (_, metadata) => void kept.set(at, metadata),
            remove: () => void kept.delete(at),
          };
          return () => new ClientSessions(store).open(client, { server: 's', user: 'alice' });
        }),
      );
      const first = await hosts[0]();
      const second = await hosts[1]();
      const counted = async (session) =>
        told({ result: await session.callTool({ name: 'count', arguments: {} }) }).value.count;
      assert.equal(await counted(first), 1);
      assert.equal(await counted(second), 2); // it had the state before
      assert.equal(await counted(first), 3);
      // What is no tool is told by an error.
      await assert.rejects(
        second.request({ method: 'resources/read', params: { uri: 'fail:///1' } }),
        ({ code }) => code !== -32044,
      );
      assert.equal(await counted(second), 4);
    });
  }
}

test('the client sends nothing again that ran, and not for ever', async () => {
  const came = [];
  const stale = (ran) => ({
    ...{ content: [], isError: true },
    _meta: { [META]: { sessionId: 's', state: `${came.length}` }, [STALE]: { ran } },
  });
  let ran = true;
  const client = {
    request: async () => ({ session: { sessionId: 's', state: 'first' } }),
    callTool: async ({ _meta }) => {
      came.push(_meta[META].state);
      return stale(ran);
    },
  };
  const session = await new ClientSessions().open(client, { server: 's', user: 'u' });
  assert.equal((await session.callTool({ name: 'x' })).isError, true);
  assert.deepEqual(came.splice(0), ['first']);
  ran = false;
  assert.equal((await session.callTool({ name: 'x' })).isError, true);
  assert.deepEqual(came, ['1', '1', '2', '3']);
});

// ---- cancelled ----

test('a cancelled request commits nothing', async () => {
  const guard = guardOf({ ledger: ledgerOf({ engine: 'memory' }) });
  const sessions = guard.sessions({ initial: () => 0 });
  const writes = door();
  const factory = factoryOf(
    {
      'tools/list': () => ({ tools: [] }),
      'tools/call': async ({ params }, ctx) => {
        const session = sessions.of(ctx);
        if (params.name === 'write') {
          session.write(session.value + 1);
          await writes.pass();
        }
        return text(`${session.value}`);
      },
    },
    guard,
  );
  const line = closing(await overStdio(factory));
  line.request('new', 'sessions/create');
  const { result } = await line.came.first(({ id }) => id === 'new');
  const { sessionId, state } = result.session;
  const call = (id, name) =>
    line.request(id, 'tools/call', { name, arguments: {}, ...within({ sessionId, state }) });
  call('cancelled', 'write');
  await writes.came;
  line.notify('notifications/cancelled', { requestId: 'cancelled' });
  await line.settled();
  writes.open();
  await line.settled();
  call('after', 'read');
  const after = await line.came.first(({ id }) => id === 'after');
  assert.deepEqual(after.result.content, text('0').content);
  assert.equal(after.result._meta[STALE], undefined);
  assert.ok(!line.came.messages.some(({ id }) => id === 'cancelled'));
});

// ---- update ----

test('a function of update gives a value at once', async () => {
  const guard = guardOf({ ledger: ledgerOf({ engine: 'memory' }) });
  const sessions = guard.sessions({ initial: () => 0 });
  let thrown;
  const factory = factoryOf(
    {
      'tools/call': (_, ctx) => {
        const session = sessions.of(ctx);
        try {
          session.update(async (value) => value + 1);
        } catch (error) {
          thrown = error;
        }
        return text(`${session.value}`);
      },
    },
    guard,
  );
  const line = closing(await overStdio(factory));
  line.request(1, 'sessions/create');
  const { result } = await line.came.first(({ id }) => id === 1);
  const { sessionId, state } = result.session;
  line.request(2, 'tools/call', { name: 'x', ...within({ sessionId, state }) });
  const answered = await line.came.first(({ id }) => id === 2);
  assert.deepEqual(answered.result.content, text('0').content);
  assert.ok(thrown instanceof TypeError);
});

// ---- processes ----

test('stdio: a state is good once in processes that share a file', { skip: noSqlite }, async () => {
  const server = await serve('stdio', { ledger: { engine: 'sqlite', path: newFile() } });
  const [one, other] = [await server.connect('alice'), await server.connect('alice')];
  const { requestState } = (await one.call('ask', { id: 7 })).result;
  assert.equal(told(await other.call('ask', { id: 7 }, { requestState })).asked, 7);
  const { code } = await refused(server, () => one.call('ask', { id: 7 }, { requestState }));
  assert.equal(code, 'used');
});

// ---- memory ----

test('memory: where there is no room, the newcomer is refused', async () => {
  const server = await replica(ledgerOf({ engine: 'memory', capacity: 6000 }));
  const [mallory, alice] = [await server.connect('mallory'), await server.connect('alice')];
  const use = async (client) => {
    const { requestState } = (await client.call('ask', { id: 7 })).result;
    return client.call('ask', { id: 7 }, { requestState });
  };
  let taken = 0;
  while ((await use(mallory)).result) taken += 1;
  assert.ok(taken > 1);
  const { code, message, answer: given } = await refused(server, () => use(mallory));
  assert.equal(code, 'ledger_unavailable');
  assert.match(message, /ledger: no room/);
  assert.deepEqual(given.error, answer('request-state', { error: null }).error);
  // There is room for others, and for what ends.
  assert.ok((await use(alice)).result);
  const { handle } = told(await mallory.call('mint', {}));
  assert.equal(told(await mallory.call('end', { handle })), 'ended');
});

test('memory: its options are checked', () => {
  assert.throws(() => new MemoryLedger({ rooms: 1 }), TypeError);
  assert.throws(() => new MemoryLedger({ capacity: -1 }), { code: 'invalid_argument' });
});
