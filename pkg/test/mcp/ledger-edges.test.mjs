// A ledger at the edges: requests that are cancelled, processes that share a file, an engine that is full.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answer } from 'sealwax';
import { MemoryLedger } from 'sealwax/mcp';
import { told } from './client.mjs';
import { closing, newFile, refused, replica, STALE, serve, within } from './fleet.mjs';
import { ledgerOf, noSqlite } from './ledgers.mjs';
import { door, factoryOf, guardOf, overStdio, text } from './wire.mjs';

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
