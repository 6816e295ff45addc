// What a guard does with a ledger, at two replicas of one service, with each engine.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { answer, Key } from 'sealwax';
import { MemoryLedger } from 'sealwax/mcp';
import { ClientSessions } from 'sealwax/mcp/client';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { bearer, during, LEGACY, MODERN, sleep, told, transports } from './client.mjs';
import { ledgerOf } from './ledgers.mjs';
import { ISSUER } from './server.mjs';
import { valkey } from './valkey.mjs';
import { door, factoryOf, guardOf, messagesOf, overStdio, requestOf, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const STALE = 'io.github.sealwax/stale';
const keys = Key.generate().toText();
const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
const closing = [];
let store;
let files = 0;
let labels = 0;

before(async () => {
  store = await valkey();
});
afterEach(() => Promise.all(closing.splice(0).map((one) => one.close())));
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** By engine, ledgers of replicas that share a new store. */
const engines = {
  memory: () => {
    const one = ledgerOf({ engine: 'memory' });
    return () => one;
  },
  sqlite: () => {
    files += 1;
    const path = join(folder, `${files}.db`);
    return () => ledgerOf({ engine: 'sqlite', path });
  },
  ioredis: () => byRedis('ioredis'),
  redis: () => byRedis('redis'),
};

function byRedis(client) {
  return () => {
    const ledger = ledgerOf({ engine: 'redis', url: store.url, client });
    closing.push(ledger);
    return ledger;
  };
}

async function replica(ledger, config = {}) {
  const server = await transports.http({ keys, ledger, sessions: {}, ...config });
  closing.push(server);
  return server;
}

async function created(client) {
  const { sessionId, state } = (await client.send('sessions/create', {})).result.session;
  return { sessionId, state };
}

const within = (session) => ({ _meta: { [META]: session } });
const latest = ({ result }) => result._meta[META];

/** The code of what was refused while something was done, and what came of that. */
async function refused(server, work) {
  const { result, events } = await during(server.events, work);
  return { answer: result, ...events.find(({ code }) => code) };
}

/** Lets go once so many have come. */
function meeting(count) {
  let left = count;
  let go;
  const gone = new Promise((done) => {
    go = done;
  });
  return () => {
    left -= 1;
    if (left <= 0) go();
    return gone;
  };
}

for (const [engine, shared] of Object.entries(engines)) {
  describe(`ledger, ${engine}`, () => {
    async function fleet(config = {}) {
      const ledger = shared();
      // What lies in the store of the test before is of another ledger.
      labels += 1;
      const ledgerOptions = { label: `${labels}`, ...config.ledgerOptions };
      const options = { ...config, ledgerOptions };
      const [one, other] = [await replica(ledger(), options), await replica(ledger(), options)];
      const [alice, there] = [await one.connect('alice'), await other.connect('alice')];
      return { one, other, alice, there };
    }

    test('a requestState is good once, at all replicas', async () => {
      const { other, alice, there } = await fleet();
      const { requestState } = (await alice.call('ask', { id: 7 })).result;
      assert.equal(told(await there.call('ask', { id: 7 }, { requestState })).asked, 7);
      for (const [server, client] of [[other, there]]) {
        const again = () => client.call('ask', { id: 7 }, { requestState });
        const { code, tokenId, answer: given } = await refused(server, again);
        assert.deepEqual([code, tokenId?.length], ['used', 32]);
        assert.deepEqual(given.error, answer('request-state').error);
      }
    });

    test('where the author says so, it is good until it expires', async () => {
      const { alice, there } = await fleet({ ledgerOptions: { reusableRequestState: true } });
      const { requestState } = (await alice.call('ask', { id: 7 })).result;
      for (const client of [alice, there, alice]) {
        assert.equal(told(await client.call('ask', { id: 7 }, { requestState })).asked, 7);
      }
    });

    test('what ends at one replica has ended at all', async () => {
      const { other, alice, there } = await fleet();
      const session = await created(alice);
      const [{ handle }, held] = [
        told(await alice.call('mint', {})),
        told(await alice.call('hold', { value: [1] })),
      ];
      assert.ok((await there.call('read', {}, within(session))).result);
      assert.ok((await alice.send('sessions/delete', within(session))).result);
      await alice.call('end', { handle });
      await alice.call('drop', { handle: held.handle });
      for (const work of [
        () => there.call('read', {}, within(session)),
        () => there.call('check', { handle }),
        () => there.call('open', { handle: held.handle }),
      ]) {
        assert.equal((await refused(other, work)).code, 'ended');
      }
    });

    test('an older state is answered with the latest, and nothing runs', async () => {
      const { other, alice, there } = await fleet();
      const session = await created(alice);
      const counted = latest(await alice.call('count', {}, within(session)));
      const { code, answer: late } = await refused(other, () =>
        there.call('count', {}, within(session)),
      );
      assert.equal(code, 'stale');
      assert.ok(!other.events.some(({ ran }) => ran));
      assert.deepEqual([late.result.isError, late.result._meta[STALE]], [true, { ran: false }]);
      assert.deepEqual(latest(late), counted);
      assert.equal(told(await there.call('count', {}, within(latest(late)))).value.count, 2);

      const read = { uri: 'doc:///1', ...within(session) };
      const { error } = await there.send('resources/read', read);
      assert.deepEqual([error.code, error.data.ran], [-32044, false]);
      assert.equal(error.data.session.sessionId, session.sessionId);
    });

    test('of two writes at once one wins, and the other hears it', async () => {
      const { alice, there } = await fleet({ meet: meeting(2) });
      const session = await created(alice);
      const both = await Promise.all(
        [alice, there].map((client) => client.call('write_at_once', {}, within(session))),
      );
      const [lost, ...more] = both.filter(({ result }) => result.isError);
      const [won] = both.filter(({ result }) => !result.isError);
      assert.deepEqual(more, []);
      assert.deepEqual(lost.result._meta[STALE], { ran: true });
      assert.deepEqual(latest(lost), latest(won));
      assert.equal(told(won).value.count, 1);
      assert.doesNotMatch(lost.result.content[0].text, /count/);
      assert.equal(told(await alice.call('read', {}, within(latest(lost)))).value.count, 1);
    });

    test('where it is no tool, that is an error', async () => {
      const { alice, there } = await fleet({ meet: meeting(2) });
      const session = await created(alice);
      const read = { uri: 'once:///1', ...within(session) };
      const both = await Promise.all(
        [alice, there].map((client) => client.send('resources/read', read)),
      );
      const [{ error }, ...more] = both.filter(({ result }) => result === undefined);
      assert.deepEqual([error.code, error.data.ran, more], [-32045, true, []]);
      const adopted = await there.call('read', {}, within(error.data.session));
      assert.equal(told(adopted).value.count, 1);
    });

    test('updates at once all succeed', async () => {
      const { alice, there } = await fleet({ meet: meeting(4) });
      const session = await created(alice);
      const all = await Promise.all(
        [alice, there].map((client) => {
          const calls = [1, 2].map(() => client.client.callTool(updating(session)));
          return Promise.all(calls);
        }),
      );
      const states = all.flat();
      assert.ok(states.every(({ isError }) => !isError));
      const values = await Promise.all(
        states.map(({ _meta }) => alice.client.callTool(reading(_meta[META]))),
      );
      const current = values.filter(({ _meta }) => _meta[STALE] === undefined);
      assert.equal(current.length, 1);
      assert.equal(told({ result: current[0] }).value.count, 4);
    });

    test('a principal is signed out everywhere', async () => {
      const { one, other, alice, there } = await fleet();
      const bob = await other.connect('bob');
      const [session, bobs] = [await created(alice), await created(bob)];
      const { handle } = told(await alice.call('mint', {}));
      const { requestState } = (await alice.call('ask', { id: 7 })).result;
      assert.ok((await there.call('read', {}, within(session))).result.content);
      await one.guard.revoke({ issuer: ISSUER, client: 'app', subject: 'alice' }, 3600);
      for (const work of [
        () => there.call('read', {}, within(session)),
        () => there.call('check', { handle }),
        () => there.call('ask', { id: 7 }, { requestState }),
      ]) {
        assert.equal((await refused(other, work)).code, 'revoked');
      }
      assert.ok((await bob.call('read', {}, within(bobs))).result.content);
      await assert.rejects(one.guard.revoke('alice'), TypeError);
      await assert.rejects(one.guard.revoke({ subject: 'a' }, -1), { code: 'invalid_argument' });
    });

    test('a held handle of single use is used up by its renewal', async () => {
      const { other, alice, there } = await fleet({ singleUse: true });
      const first = told(await alice.call('hold', { value: ['a'] }));
      for (const client of [alice, there]) {
        const { handle } = first;
        assert.deepEqual(told(await client.call('open', { handle })).value, ['a']);
      }
      const second = told(await there.call('renew', { handle: first.handle }));
      assert.deepEqual([second.value, second.generation], [['a', 'more'], 1]);
      for (const tool of ['open', 'renew']) {
        const { code, answer: given } = await refused(other, () =>
          there.call(tool, { handle: first.handle }),
        );
        assert.equal(code, 'used');
        assert.deepEqual(given.result.content, answer('handle').toolResult.content);
      }
      assert.deepEqual(told(await alice.call('renew', { handle: second.handle })).generation, 2);
    });

    test('what asks back commits nothing: the retry sends the same state', async () => {
      const { alice, there } = await fleet();
      const session = await created(alice);
      const { requestState, _meta } = (await alice.call('ask_of_session', {}, within(session)))
        .result;
      assert.equal(_meta[META].state, undefined);
      const done = await there.call('ask_of_session', {}, { requestState, ...within(session) });
      assert.equal(told(done).value.count, 1);
      assert.ok(latest(done).state);
    });

    test('a session of the transport ends for good, and when it was idle', async () => {
      const { one, other } = await fleet({ fetch: { idle: 1, sep1359: true } });
      const clients = [await one.connect('alice', LEGACY), await one.connect('alice', LEGACY)];
      const [ended, idle] = clients.map(({ client }) => client.transport.sessionId);
      const headers = { authorization: await bearer('alice'), 'mcp-session-id': ended };
      assert.equal((await fetch(one.url, { method: 'DELETE', headers })).status, 204);
      const ping = async (session) => {
        const { headers, ...rest } = requestOf({ jsonrpc: '2.0', id: 1, method: 'ping' });
        assert.ok(rest);
        const response = await fetch(other.url, {
          method: 'POST',
          headers: {
            ...Object.fromEntries(headers),
            authorization: await bearer('alice'),
            'mcp-session-id': session,
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
        });
        await response.text();
        return response.status;
      };
      assert.equal((await refused(other, () => ping(ended))).answer, 404);
      await sleep(2100);
      const { code, answer: status } = await refused(other, () => ping(idle));
      assert.deepEqual([code, status], ['ended', 404]);
    });
  });
}

const updating = (session) => ({ name: 'update_at_once', arguments: {}, ...within(session) });
const reading = (session) => ({ name: 'read', arguments: {}, ...within(session) });

test('an idle time takes a ledger, and so does single use', async () => {
  const guard = guardOf();
  const idle = { code: 'invalid_argument', message: /^idle: expected a guard with a ledger/ };
  assert.throws(() => guard.fetch(() => {}, { idle: 60 }), idle);
  assert.throws(() => sessionStreams(guard, { idle: 60 }), idle);
  assert.throws(() => guardOf({ ledgerOptions: {} }), /expected a ledger too/);
  assert.throws(() => guardOf({ ledger: {} }), TypeError);
  await assert.rejects(guard.revoke({ subject: 'alice' }), /ledger: expected a guard that has one/);
  const server = await transports.http({ keys, singleUse: true });
  closing.push(server);
  const alice = await server.connect('alice');
  const { code, message } = await refused(server, () => alice.call('hold', { value: 1 }));
  assert.equal(code, 'invalid_argument');
  assert.match(message, /single use: expected a guard with a ledger/);
});

// ---- the client's helper ----

for (const transport of ['http', 'stdio']) {
  for (const era of [MODERN, LEGACY]) {
    test(`${transport}, ${era}: the client goes on with the latest state`, async () => {
      files += 1;
      const ledger = { engine: 'sqlite', path: join(folder, `${files}.db`) };
      const server = await transports[transport]({
        ...{ keys, sessions: {} },
        ledger: transport === 'http' ? ledgerOf(ledger) : ledger,
      });
      closing.push(server);
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
  const line = await overStdio(factory);
  closing.push(line);
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
  const line = await overStdio(factory);
  closing.push(line);
  line.request(1, 'sessions/create');
  const { result } = await line.came.first(({ id }) => id === 1);
  const { sessionId, state } = result.session;
  line.request(2, 'tools/call', { name: 'x', ...within({ sessionId, state }) });
  const answered = await line.came.first(({ id }) => id === 2);
  assert.deepEqual(answered.result.content, text('0').content);
  assert.ok(thrown instanceof TypeError);
});

// ---- processes ----

test('stdio: a state is good once in processes that share a file', async () => {
  const path = join(folder, 'processes.db');
  const server = await transports.stdio({ keys, ledger: { engine: 'sqlite', path } });
  closing.push(server);
  const [one, other] = [await server.connect('alice'), await server.connect('alice')];
  const { requestState } = (await one.call('ask', { id: 7 })).result;
  assert.equal(told(await other.call('ask', { id: 7 }, { requestState })).asked, 7);
  const { code } = await refused(server, () => one.call('ask', { id: 7 }, { requestState }));
  assert.equal(code, 'used');
});

test('stdio: a session of SEP-1359 that was idle has ended', async () => {
  const guard = guardOf({ ledger: ledgerOf({ engine: 'memory' }) });
  const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
  const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout, idle: 1 });
  const line = await overStdio(factory, { streams, era: MODERN });
  closing.push(line);
  const clientInfo = { name: 'x', version: '1' };
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  line.send({ id: 1, method: 'initialize', params });
  const { result } = await line.came.first(({ id }) => id === 1);
  const { sessionId } = result;
  line.send({ method: 'notifications/initialized', sessionId });
  line.send({ id: 2, method: 'tools/list', sessionId });
  assert.ok((await line.came.first(({ id }) => id === 2)).result.tools);
  await sleep(2100);
  line.send({ id: 3, method: 'tools/list', sessionId });
  const { error } = await line.came.first(({ id }) => id === 3);
  assert.equal(error.code, answer('sep-1359').error.code);
});

test('stdio: a session of SEP-1359 that was terminated has ended', async () => {
  const ledger = ledgerOf({ engine: 'memory' });
  const line = async () => {
    const guard = guardOf({ ledger });
    const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
    const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout });
    const made = await overStdio(factory, { streams, era: MODERN });
    closing.push(made);
    return made;
  };
  const [one, other] = [await line(), await line()];
  const clientInfo = { name: 'x', version: '1' };
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  one.send({ id: 1, method: 'initialize', params });
  const { sessionId } = (await one.came.first(({ id }) => id === 1)).result;
  other.send({ id: 2, method: 'tools/list', sessionId });
  assert.ok((await other.came.first(({ id }) => id === 2)).result.tools);
  one.send({ id: 3, method: 'session/terminate', sessionId });
  assert.deepEqual((await one.came.first(({ id }) => id === 3)).result, {});
  for (const [at, each] of [one, other].entries()) {
    each.send({ id: 4 + at, method: 'tools/list', sessionId });
    const { error } = await each.came.first(({ id }) => id === 4 + at);
    assert.equal(error.code, answer('sep-1359').error.code);
  }
});

// ---- memory ----

test('memory: where there is no room, the newcomer is refused', async () => {
  const server = await replica(ledgerOf({ engine: 'memory', room: 6000 }));
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

test('memory: what is older than it is unknown, unless it is adopted', async () => {
  const old = await replica(ledgerOf({ engine: 'memory' }));
  const alice = await old.connect('alice');
  const session = await created(alice);
  // It begins a second before it is made.
  await sleep(1_100);
  const server = await replica(new MemoryLedger());
  const there = await server.connect('alice');
  const read = (client) => () => client.call('read', {}, within(session));
  assert.equal((await refused(server, read(there))).code, 'unknown');
  const adopt = Math.floor(Date.now() / 1000) - 60;
  const adopting = await replica(new MemoryLedger(), { ledgerOptions: { adopt } });
  assert.ok((await read(await adopting.connect('alice'))()).result.content);
  assert.throws(() => new MemoryLedger({ rooms: 1 }), TypeError);
  assert.throws(() => new MemoryLedger({ room: -1 }), { code: 'invalid_argument' });
});

test('a session in the header ends for good', async () => {
  const guard = guardOf({ ledger: ledgerOf({ engine: 'memory' }) });
  const factory = factoryOf({ 'tools/list': () => ({ tools: [], nextCursor: '2' }) }, guard);
  const handler = guard.fetch(createMcpHandler(factory).fetch);
  const begun = await handler(
    requestOf({
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: {
        ...{ protocolVersion: LEGACY, capabilities: {} },
        clientInfo: { name: 'x', version: '1' },
      },
    }),
  );
  await begun.text();
  const headers = { 'mcp-session-id': begun.headers.get('mcp-session-id') };
  const listed = await handler(requestOf({ jsonrpc: '2.0', id: 2, method: 'tools/list' }, headers));
  // The first message that the guard of the server sees is one for which nothing opens the ledger.
  assert.match(messagesOf(await listed.text())[0].result.nextCursor, /^sw1\./);
  const deleted = new Request('http://localhost/mcp', { method: 'DELETE', headers });
  assert.equal((await handler(deleted)).status, 204);
  const gone = await handler(requestOf({ jsonrpc: '2.0', id: 3, method: 'tools/list' }, headers));
  assert.equal(gone.status, 404);
});
