// Ledgers in stores of all kinds. Where one is not as it should be nothing is accepted, the client is told that the server
// failed, and the log says why, without the store's credentials.

import assert from 'node:assert/strict';
import { chmodSync, stat, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { Redis as Upstash } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { anonymous } from 'sealwax';
import { LedgerUnfit, RedisLedger, SqliteLedger } from 'sealwax/mcp';
import { TestClock, testCodec, testLedger } from 'sealwax/testing';
import { rest } from './rest.mjs';
import {
  clients,
  closing,
  database,
  fails,
  file,
  noSqlite,
  SECRET,
  served,
  started,
  until,
} from './stores.mjs';
import { freePort } from './valkey.mjs';

for (const client of ['ioredis', 'redis']) {
  test(`${client}: a store that is down, another's, or would forget is refused`, async () => {
    const [locked, evicting] = [
      await started({ requirepass: 'x' }),
      await started({ maxmemory: '9mb', 'maxmemory-policy': 'allkeys-lru' }),
    ];
    const down = `redis://:${SECRET}@127.0.0.1:${await freePort()}`;
    for (const [url, why] of [
      [down, /ledger: expected an answer, found ECONNREFUSED/],
      [locked.url.replace(':x@', `:${SECRET}@`), /ledger: .*, found (NOAUTH|WRONGPASS)/],
    ]) {
      const { guard } = await fails(new RedisLedger(clients[client](url)), why);
      const error = await guard.revoke({ subject: 'alice' }).catch((error) => error);
      assert.match(error.message, why);
      assert.doesNotMatch(inspect(error, { depth: 9 }), new RegExp(SECRET));
    }
    const why = /maxmemory-policy: expected noeviction, found allkeys-lru/;
    const unfit = (error) => error instanceof LedgerUnfit && why.test(error.message);
    await assert.rejects(new RedisLedger(clients[client](evicting.url)).check(), unfit);
  });
}

test('what answers in another way is no ledger', async () => {
  const throws = () => {
    throw new Error(`redis://:${SECRET}@example.com`);
  };
  for (const run of [() => undefined, async () => 7, () => [Symbol.iterator], () => ['stale', '0']])
    await fails({ run }, /ledger: /);
  for (const run of [throws, async () => throws()])
    await fails({ run }, /ledger: expected an answer, found Error/);
  const garbage = new RedisLedger({ sendCommand: async () => 'garbage' });
  await fails(garbage, /INFO: expected the answer of a Redis or a Valkey/);
});

test('an answer that came while the process was busy is in time', async () => {
  const clock = new TestClock();
  const memory = testLedger(clock);
  // What was made before the ledger is refused.
  clock.advance(60);
  const run = (command) =>
    new Promise((answered) => {
      stat(tmpdir(), () => answered(memory.run(command)));
      setImmediate(() => {
        const until = performance.now() + 400;
        while (performance.now() < until);
      });
    });
  const server = served({ run }, { timeLimit: 1, codec: testCodec(clock) });
  assert.ok((await server.again(await server.asked())).result);
  assert.deepEqual(server.events, []);
});

test('a client that is none, or that would hide our keys', () => {
  for (const client of [undefined, {}, 'redis://localhost']) {
    assert.throws(() => new RedisLedger(client), TypeError);
  }
  const client = new Redis({ lazyConnect: true, keyPrefix: 'mine:' });
  assert.throws(() => new RedisLedger(client), { code: 'invalid_argument' });
});

// ---- a Cluster, and Upstash ----

/** A Cluster of two masters. */
async function cluster() {
  const nodes = [
    await started({ 'cluster-enabled': 'yes' }),
    await started({ 'cluster-enabled': 'yes' }),
  ];
  const [one, other] = nodes;
  await one.admin.call('cluster', 'addslotsrange', '0', '8191');
  await other.admin.call('cluster', 'addslotsrange', '8192', '16383');
  await one.admin.call('cluster', 'meet', '127.0.0.1', `${other.port}`);
  for (const { admin } of nodes) {
    await until(async () => {
      const told = await admin.call('cluster', 'info');
      return /cluster_state:ok/.test(told) && /cluster_known_nodes:2/.test(told);
    });
  }
  return nodes;
}

/** A handle is good until it ends. */
async function ends(server) {
  const handle = await server.minted();
  assert.ok((await server.steady('check', { handle })).result);
  assert.equal((await server.call('end', { handle })).result.content[0].text, 'done');
  assert.equal((await server.steady('check', { handle })).error.code, -32602);
  assert.equal(server.events.at(-1).code, 'ended');
}

test('a Cluster, by either client', async () => {
  const [{ port, admin }, other] = await cluster();
  const byIoredis = new Cluster([{ host: '127.0.0.1', port }]);
  byIoredis.on('error', () => {});
  closing.push(() => byIoredis.disconnect());
  const byRedis = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] });
  byRedis.on('error', () => {});
  await byRedis.connect();
  closing.push(() => byRedis.destroy());
  for (const client of [byIoredis, byRedis]) {
    const ledger = new RedisLedger(client);
    assert.ok(Array.isArray(await ledger.check()));
    // Either master may have them, by the label.
    for (const label of ['a', 'b', 'c', 'd']) {
      await ends(served(ledger, { ledgerOptions: { label, acceptIssuedSince: 1 } }));
    }
  }
  for (const one of [admin, other.admin]) assert.ok((await one.dbsize()) > 0);

  // Clients that are not connected yet know no server.
  await admin.config('SET', 'maxmemory', '9mb', 'maxmemory-policy', 'allkeys-lru');
  const connecting = byIoredis.duplicate();
  closing.push(() => connecting.disconnect());
  await assert.rejects(new RedisLedger(connecting).check(), LedgerUnfit);
  await assert.rejects(new RedisLedger(byRedis.duplicate()).check(), /client is closed/i);
});

test('one that says nothing is given up by a check after ten seconds', async (t) => {
  const silent = createServer(() => {});
  await new Promise((listening) => silent.listen(0, '127.0.0.1', listening));
  closing.push(() => silent.close() && silent.closeAllConnections());
  const url = `http://127.0.0.1:${silent.address().port}`;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const checked = new RedisLedger(new Upstash({ url, token: SECRET, retry: false })).check();
  t.mock.timers.tick(10_000);
  t.mock.timers.tick(1);
  await assert.rejects(checked, /in time/);
});

test('Upstash: by REST, where texts stay texts', async () => {
  const store = await started();
  const restOf = async (forbidden) => {
    const { url, close } = await rest(store, forbidden);
    closing.push(close);
    return url;
  };
  const url = await restOf();
  const token = SECRET;
  const upstash = (given) => new Upstash({ token, retry: false, ...given });
  const asTexts = { automaticDeserialization: false };
  const ledger = new RedisLedger(upstash({ url, ...asTexts }));
  const server = served(ledger, { ledgerOptions: { acceptIssuedSince: 1 } });
  await ends(server);
  const handle = await server.minted();
  await server.guard.revoke(anonymous);
  assert.equal((await server.steady('check', { handle })).error.code, -32602);
  assert.equal(server.events.at(-1).code, 'revoked');

  await fails(new RedisLedger(upstash({ url })), /set automaticDeserialization: false/);
  const unasked = upstash({ url: await restOf(['INFO']), ...asTexts });
  await fails(new RedisLedger(unasked), /ledger: expected an answer, found/);
});

// ---- SQLite ----

test('SQLite: a file that another process sets up is waited for, and others are served', {
  skip: noSqlite,
}, async () => {
  const path = file();
  const other = database(path);
  other.exec('BEGIN EXCLUSIVE');
  const ledger = new SqliteLedger(database(path));
  const reply = ledger.run({ script: 'revoke', keys: ['swl1:{a}:p:b'], args: ['0', '0'] });
  let isServed = false;
  setImmediate(() => {
    isServed = true;
    other.exec('COMMIT');
  });
  assert.deepEqual(await reply, ['ok', '0']);
  assert.ok(isServed);
});

test("SQLite: a new file is its owner's alone, one that is there keeps its permissions", {
  skip: noSqlite,
}, () => {
  const path = file();
  const mode = (more = '') => statSync(path + more).mode & 0o777;
  assert.ok(new SqliteLedger(database(path)));
  for (const more of ['', '-wal', '-shm']) assert.equal(mode(more), 0o600, more);
  chmodSync(path, 0o660);
  assert.ok(new SqliteLedger(database(path)));
  assert.equal(mode(), 0o660);
  assert.ok(new SqliteLedger(database(':memory:')));
});

test('SQLite: what survives no loss of power is chosen', { skip: noSqlite }, () => {
  const path = file();
  const level = (given) => {
    const opened = database(path);
    assert.ok(new SqliteLedger(opened, given));
    return opened.prepare('PRAGMA synchronous').get().synchronous;
  };
  assert.deepEqual([level(), level({ durable: false })], [2, 1]);
  assert.throws(() => level({ durable: 'no' }), TypeError);
});
