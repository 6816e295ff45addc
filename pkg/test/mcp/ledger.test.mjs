// A guard with a ledger, at two replicas of one service, with each engine.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { answer } from 'sealwax';
import { told } from './client.mjs';
import { closing, created, latest, newFile, refused, replica, STALE, within } from './fleet.mjs';
import { ledgerOf, noSqlite } from './ledgers.mjs';
import { ISSUER } from './server.mjs';
import { valkey } from './valkey.mjs';

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
        const { code, id, answer: given } = await refused(server, again);
        assert.deepEqual([code, id?.length], ['used', 32]);
        assert.deepEqual(given.error, answer('request-state').error);
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
  });
}
