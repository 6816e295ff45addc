// A guard with a ledger in a real store, at two replicas of one service.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { told } from './client.mjs';
import {
  closing,
  created,
  latest,
  newFile,
  refused,
  replica,
  STALE,
  serve,
  within,
} from './fleet.mjs';
import { ledgerOf, noSqlite } from './ledgers.mjs';
import { ISSUER } from './server.mjs';
import { valkey } from './valkey.mjs';

let store;
before(async () => {
  store = await valkey();
});
after(() => store.close());

/** By engine, a ledger that a replica shares with others. */
const engines = {
  sqlite(path = newFile()) {
    return () => ledgerOf({ engine: 'sqlite', path });
  },
  ioredis: () => () => closing(ledgerOf({ engine: 'redis', url: store.url, client: 'ioredis' })),
  redis: () => () => closing(ledgerOf({ engine: 'redis', url: store.url, client: 'redis' })),
};

/** Lets two go once both have come. */
function meeting() {
  let left = 2;
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
  const skip = engine === 'sqlite' && noSqlite;
  test(`${engine}: what is used, written, ended or revoked at one replica is so at all`, {
    skip,
  }, async () => {
    const ledger = shared();
    const config = { meet: meeting(), ledgerOptions: { label: engine } };
    const [one, other] = [await replica(ledger(), config), await replica(ledger(), config)];
    const [alice, there, bob] = [
      await one.connect('alice'),
      await other.connect('alice'),
      await other.connect('bob'),
    ];
    const assertRefused = async (code, ...works) => {
      for (const work of works) assert.equal((await refused(other, work)).code, code);
    };

    const { requestState } = (await alice.call('ask', {})).result;
    const again = () => there.call('ask', {}, { requestState });
    assert.equal(told(await again()).asked, 7);
    await assertRefused('used', again);

    const session = await created(alice);
    const both = await Promise.all(
      [alice, there].map((client) => client.call('write_at_once', {}, within(session))),
    );
    const [[lost], [won]] = [true, undefined].map((is) =>
      both.filter(({ result }) => result.isError === is),
    );
    assert.deepEqual(lost.result._meta[STALE], { ran: true });
    assert.deepEqual(latest(lost), latest(won));
    const written = within(latest(lost));
    assert.equal(told(await alice.call('read', {}, written)).count, 1);

    const [{ handle }, held] = [
      told(await alice.call('mint', {})),
      told(await alice.call('hold', { value: [1] })),
    ];
    assert.ok((await there.call('read', {}, written)).result);
    assert.ok((await alice.send('sessions/delete', written)).result);
    await alice.call('end', { handle });
    await alice.call('drop', { handle: held.handle });
    await assertRefused(
      'ended',
      () => there.call('read', {}, written),
      () => there.call('check', { handle }),
      () => there.call('open', { handle: held.handle }),
    );

    const [mine, bobs] = [within(await created(alice)), within(await created(bob))];
    const state = (await alice.call('ask', {})).result;
    assert.ok((await there.call('read', {}, mine)).result.content);
    await one.guard.revoke({ issuer: ISSUER, client: 'app', subject: 'alice' }, 3600);
    await assertRefused(
      'revoked',
      () => there.call('read', {}, mine),
      () => there.call('ask', {}, { requestState: state.requestState }),
    );
    assert.ok((await bob.call('read', {}, bobs)).result.content);
    await assert.rejects(one.guard.revoke('alice'), TypeError);
    await assert.rejects(one.guard.revoke({ subject: 'a' }, -1), { code: 'invalid_argument' });
  });
}

test('stdio: a state is good once in processes that share a file', { skip: noSqlite }, async () => {
  const server = await serve('stdio', { ledger: { engine: 'sqlite', path: newFile() } });
  const [one, other] = [await server.connect('alice'), await server.connect('alice')];
  const { requestState } = (await one.call('ask', {})).result;
  assert.equal(told(await other.call('ask', {}, { requestState })).asked, 7);
  const { code } = await refused(server, () => one.call('ask', {}, { requestState }));
  assert.equal(code, 'used');
});
