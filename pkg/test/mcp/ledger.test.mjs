// A guard with a ledger in a real store, at two replicas of one service.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { RedisLedger, SqliteLedger } from 'sealwax/mcp';
import { SESSION, sleep } from './client.mjs';
import { clients, database, file, noSqlite, served, started } from './stores.mjs';
import { door, modern, overHttp, within } from './wire.mjs';

/** By engine, what makes the ledger of each replica. */
const engines = {
  sqlite() {
    const path = file();
    return () => new SqliteLedger(database(path));
  },
  ioredis: () => shared('ioredis'),
  redis: () => shared('redis'),
};

async function shared(client) {
  const { url } = await started();
  return () => new RedisLedger(clients[client](url));
}

/** Lets two go once both have come. */
function meeting() {
  const arrived = door();
  let left = 2;
  return () => {
    left -= 1;
    if (left <= 0) arrived.open();
    return arrived.pass();
  };
}

const latest = ({ result }) => result._meta[SESSION];
async function sent({ factory }, method, params) {
  return (await overHttp(factory, ...modern(1, method, params))).messages[0].result;
}
const created = async (server) => within((await sent(server, 'sessions/create')).session);

for (const [engine, begun] of Object.entries(engines)) {
  test(`${engine}: what is used, written, ended or revoked at one replica is so at all`, {
    skip: engine === 'sqlite' && noSqlite,
  }, async () => {
    const ledgerOf = await begun();
    const meet = meeting();
    const replica = (subject) => {
      const ledgerOptions = { label: engine, clockTolerance: 0 };
      return served(ledgerOf(), { meet, ledgerOptions, principal: () => ({ subject }) });
    };
    const [alice, there, bob] = ['alice', 'alice', 'bob'].map(replica);
    const assertRefused = async (code, ...works) => {
      for (const work of works) {
        there.events.length = 0;
        await work();
        assert.deepEqual(
          there.events.map((event) => event.code),
          [code],
        );
      }
    };

    // It begins with the first request, and knows nothing of what was made in that second.
    await alice.again(await alice.asked());
    await sleep(1100);
    const requestState = await alice.asked();
    assert.ok((await there.again(requestState)).result);
    await assertRefused('used', () => there.again(requestState));

    const session = await created(alice);
    const both = await Promise.all([alice, there].map(({ call }) => call('write', {}, session)));
    const [[lost], [won]] = [true, undefined].map((is) =>
      both.filter(({ result }) => result.isError === is),
    );
    assert.deepEqual(lost.result._meta['io.github.sealwax/stale'], { ran: true });
    assert.deepEqual(latest(lost), latest(won));
    const written = within(latest(lost));
    assert.equal(await there.said('read', {}, written), '1');

    const [handle, held] = [await alice.said('mint'), await alice.said('hold')];
    assert.ok(await sent(alice, 'sessions/delete', written));
    await alice.call('end', { handle });
    await alice.call('drop', { handle: held });
    await assertRefused(
      'ended',
      () => there.call('read', {}, written),
      () => there.call('check', { handle }),
      () => there.call('open', { handle: held }),
    );

    const [mine, bobs, unused] = [await created(alice), await created(bob), await alice.asked()];
    assert.equal(await there.said('read', {}, mine), '0');
    await alice.guard.revoke({ subject: 'alice' }, 3600);
    await assertRefused(
      'revoked',
      () => there.call('read', {}, mine),
      () => there.again(unused),
    );
    assert.equal(await bob.said('read', {}, bobs), '0');
    await assert.rejects(alice.guard.revoke('alice'), TypeError);
    await assert.rejects(alice.guard.revoke({ subject: 'a' }, -1), { code: 'invalid_argument' });
  });
}
