// A guard with a ledger, at two replicas of one service, with each engine.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { answer } from 'sealwax';
import { bearer, LEGACY, sleep, told } from './client.mjs';
import {
  closing,
  created,
  latest,
  META,
  newFile,
  refused,
  replica,
  STALE,
  within,
} from './fleet.mjs';
import { ledgerOf, noSqlite } from './ledgers.mjs';
import { ISSUER } from './server.mjs';
import { valkey } from './valkey.mjs';
import { requestOf } from './wire.mjs';

let store;
let labels = 0;

before(async () => {
  store = await valkey();
});
after(() => store.close());

/** By engine, ledgers of replicas that share a new store. */
const engines = {
  memory: () => {
    const one = ledgerOf({ engine: 'memory' });
    return () => one;
  },
  sqlite: () => {
    const path = newFile();
    return () => ledgerOf({ engine: 'sqlite', path });
  },
  ioredis: () => byRedis('ioredis'),
  redis: () => byRedis('redis'),
};

function byRedis(client) {
  return () => closing(ledgerOf({ engine: 'redis', url: store.url, client }));
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
  describe(`ledger, ${engine}`, { skip: engine === 'sqlite' && noSqlite }, () => {
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
      const authorization = await bearer('alice');
      const headers = { authorization, 'mcp-session-id': ended };
      assert.equal((await fetch(one.url, { method: 'DELETE', headers })).status, 204);
      const ping = async (session) => {
        const sent = { authorization, 'mcp-session-id': session };
        const body = { jsonrpc: '2.0', id: 1, method: 'ping' };
        const { headers } = requestOf(body, sent);
        const init = { method: 'POST', headers, body: JSON.stringify(body) };
        const response = await fetch(other.url, init);
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
