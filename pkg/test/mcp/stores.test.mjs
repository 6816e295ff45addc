// A ledger whose store is not as it should be: nothing is accepted, the client is told that the server
// failed, and the log says why, without the store's credentials.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync, stat, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect } from 'node:util';

import { Redis } from 'ioredis';
import { LedgerUnfit, RedisLedger, SqliteLedger } from 'sealwax/mcp';
import { database, ledgerOf, noSqlite } from './ledgers.mjs';
import { closing, connected, fails, revoked, SECRET, served, started } from './stores.mjs';
import { freePort, valkey } from './valkey.mjs';

for (const client of ['ioredis', 'redis']) {
  test(`${client}: a store that is down`, async () => {
    const url = `redis://:${SECRET}@127.0.0.1:${await freePort()}`;
    const { guard } = await fails(connected(client, url), /ledger: .*, found ECONNREFUSED/);
    const error = await guard.revoke({ subject: 'alice' }).catch((error) => error);
    assert.match(error.message, /ledger: expected an answer, found ECONNREFUSED/);
    assert.doesNotMatch(inspect(error, { depth: 9 }), new RegExp(SECRET));
  });

  test(`${client}: a store that never answers, and then does`, async () => {
    const store = await started();
    const ledger = connected(client, store.url);
    await ledger.check();
    store.pause();
    const server = await fails(ledger, /expected an answer in time, found none/);
    store.resume();
    const requestState = await server.asked();
    const { result, error } = await server.steady('ask', {}, { requestState });
    // It is as new as the ledger.
    assert.equal(result, undefined);
    assert.equal(error.code, -32602);
    assert.equal(server.events.at(-1).code, 'unknown');
  });

  test(`${client}: a store with another password`, async () => {
    const store = await started({ requirepass: 'x' });
    const url = store.url.replace(':x@', `:${SECRET}@`);
    await fails(connected(client, url), /ledger: expected an answer, found (NOAUTH|WRONGPASS)/);
  });

  test(`${client}: a store that is full`, async () => {
    const store = await started();
    const ledger = ledgerOf({ engine: 'redis', url: store.url, client });
    closing.push(() => ledger.close());
    await revoked(served(ledger).guard);
    await store.admin.config('SET', 'maxmemory', '100kb');
    await fails(ledger, /ledger: expected an answer, found OOM/);
  });

  test(`${client}: a store that would forget is refused, and a replica`, async () => {
    const master = await started();
    const evicting = { maxmemory: '9mb', 'maxmemory-policy': 'allkeys-lru' };
    for (const [options, why] of [
      [evicting, /maxmemory-policy: expected noeviction, found allkeys-lru/],
      [{ replicaof: `127.0.0.1 ${master.port}` }, /role: expected a master, found a replica/],
    ]) {
      const store = await started(options);
      const ledger = connected(client, store.url);
      await assert.rejects(ledger.check(), (error) => {
        assert.ok(error instanceof LedgerUnfit);
        return why.test(error.message);
      });
      const server = await fails(ledger, why);
      if (options !== evicting) continue;
      // Put right, it serves.
      await store.admin.config('SET', 'maxmemory-policy', 'noeviction');
      await revoked(server.guard);
    }
  });

  test(`${client}: what the store may forget is logged once`, async () => {
    const store = await started();
    const ledger = connected(client, store.url);
    const { guard, lines } = served(ledger);
    for (const _ of [1, 2]) await revoked(guard);
    assert.equal(lines.length, 1);
    assert.match(lines[0], /^sealwax: ledger: appendonly is off/);
    assert.deepEqual(ledger.warnings?.length, 1);
  });

  test(`${client}: what is not ours under our keys`, async () => {
    const store = await started();
    const ledger = connected(client, store.url);
    const server = served(ledger);
    await revoked(server.guard);
    const [fence] = (await store.admin.keys('swl1:*')).filter((key) => key.endsWith(':fence'));
    for (const garbage of ['garbage', 'swl0 1 2', '\u{1F600}']) {
      await store.admin.set(fence, garbage);
      await fails(ledger, /ledger: expected a record of the ledger under swl1:/);
    }
    await store.admin.del(fence);
    await store.admin.lpush(fence, 'a list');
    await fails(ledger, /ledger: expected an answer, found WRONGTYPE/);
  });

  test(`${client}: after a restart that forgot, what was made before is unknown`, async () => {
    const port = await freePort();
    const store = await valkey({ port });
    const ledger = ledgerOf({ engine: 'redis', url: store.url, client });
    closing.push(() => ledger.close());
    const server = served(ledger);
    const [used, fresh] = [await server.asked(), await server.asked()];
    assert.ok((await server.again(used)).result);
    await store.close();
    await started({ port });
    // A client takes its time to connect again.
    let answered;
    for (let tries = 0; tries < 50; tries += 1) {
      answered = await server.again(used);
      if (answered.error?.code !== -32603) break;
    }
    assert.equal(answered.error.code, -32602);
    assert.equal(server.events.at(-1).code, 'unknown');
    assert.equal((await server.again(fresh)).error.code, -32602);
  });

  test(`${client}: whether a replica has what ended is told`, async () => {
    const master = await started();
    const replica = await started({ replicaof: `127.0.0.1 ${master.port}` });
    for (let tries = 0; tries < 200; tries += 1) {
      const told = await master.admin.info('replication');
      if (/state=online/.test(told)) break;
      await new Promise((later) => setTimeout(later, 50));
    }
    const ledger = connected(client, master.url);
    const server = served(ledger, { ledgerOptions: { acceptIssuedSince: 0 } });
    let told = 1;
    // It has a fifth of a second, which is little on a busy machine.
    for (let tries = 0; tries < 50 && told > 0; tries += 1) {
      server.events.length = 0;
      await revoked(server.guard);
      told = server.events.length;
    }
    assert.equal(told, 0);
    replica.pause();
    closing.push(() => replica.resume());
    await revoked(server.guard);
    assert.equal(server.events.at(-1).code, 'ledger_unconfirmed');
    assert.match(server.lines.at(-1), /no replica confirmed it: a fail-over would forget it/);
  });
}

test('what answers in another way is no ledger', async () => {
  const told = (answer) => new RedisLedger({ sendCommand: async () => answer });
  await fails(told('garbage'), /INFO: expected the answer of a Redis or a Valkey/);
  await fails(told('redis_version:6.0.16\r\nrole:master'), /expected Redis 6\.2 or later/);
  await fails(told('redis_version:7.0.0'), /maxmemory-policy: expected noeviction, found none/);
  const fit = 'redis_version:7.0.0\r\nmaxmemory_policy:noeviction';
  const replying = (reply) =>
    new RedisLedger({ sendCommand: async ([name]) => (name === 'INFO' ? fit : reply) });
  for (const reply of [undefined, null, 'OK', [], ['yes'], [null], ['ok '], {}]) {
    await fails(
      replying(reply),
      /ledger: expected (a reply as LEDGER.md specifies|the answer of a Redis)/,
    );
  }
  await fails(replying([1]), /expected texts; set automaticDeserialization: false/);
  // A ledger of an author's own.
  for (const run of [
    () => undefined,
    async () => 7,
    () => [Symbol.iterator],
    () => ['stale', '0'],
  ]) {
    await fails({ run }, /ledger: /);
  }
  const throws = () => {
    throw new Error(`redis://:${SECRET}@example.com`);
  };
  await fails({ run: throws }, /ledger: expected an answer, found Error/);
  await fails({ run: async () => throws() }, /ledger: expected an answer, found Error/);
  await fails({ run: () => new Promise(() => {}) }, /found none/);
});

test('once a server was checked, a command takes no document, and whatever else it answers takes a dialogue', async (t) => {
  const fit =
    'redis_version:7.0.0\r\nmaxmemory_policy:noeviction\r\nrun_id:1\r\nmaster_replid:2\r\nevicted_keys:0';
  let [sent, replies] = [[], []];
  const sendCommand = async (args) => {
    sent.push(args);
    const reply = args[0] === 'INFO' ? fit : (replies.shift() ?? ['ok', '0']);
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const ledger = new RedisLedger({ sendCommand });
  const command = { script: 'commit', keys: ['head', 'end'], args: ['a', '0', 'b', '0', 'c'] };
  const asked = async (...given) => {
    [sent, replies] = [[], given];
    return ledger.run(command);
  };
  assert.deepEqual(await asked(), ['ok', '0']);
  const [[info], first] = sent;
  assert.equal(info, 'INFO');
  const parsed = t.mock.method(JSON, 'parse');
  assert.deepEqual(await asked(), ['ok', '0']);
  assert.deepEqual(sent, [first]);
  assert.equal(parsed.mock.callCount(), 0);
  for (const reply of [['lost'], ['ended'], ['stale', 'd', '3', 'e']]) {
    assert.deepEqual(await asked(reply), reply);
    assert.deepEqual(sent, [first]);
  }
  assert.deepEqual(await asked(new Error('NOSCRIPT no such script')), ['ok', '0']);
  assert.deepEqual([sent[0], sent[1][0], sent.length], [first, 'EVAL', 2]);
  assert.deepEqual(await asked(['ok', '1']), ['ok', '1', 'unconfirmed']);
  assert.deepEqual(sent, [first]);
  // A fail-over is not noticed any more: nothing more is sent.
  for (const names of [['EVALSHA'], ['INFO']]) {
    await assert.rejects(asked(['ok', '2']), LedgerUnfit);
    assert.deepEqual(
      sent.map(([name]) => name),
      names,
    );
  }
});

test('a slow ledger has three tenths of a longer time limit', async () => {
  const memory = ledgerOf({ engine: 'memory' });
  const slow = async (command) => {
    await new Promise((later) => setTimeout(later, 400));
    return memory.run(command);
  };
  // By default that is late; this guard waits for six seconds.
  const server = served({ run: slow });
  assert.ok((await server.again(await server.asked())).result);
  assert.deepEqual(server.events, []);
});

test('an answer that came while the process was busy is in time', async () => {
  const memory = ledgerOf({ engine: 'memory' });
  const run = (command) =>
    new Promise((answered) => {
      stat(tmpdir(), () => answered(memory.run(command)));
      setImmediate(() => {
        const until = performance.now() + 400;
        while (performance.now() < until);
      });
    });
  const server = served({ run }, { timeLimit: 1 });
  assert.ok((await server.again(await server.asked())).result);
  assert.deepEqual(server.events, []);
});

test('a server that speaks no Redis', async () => {
  const server = createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  closing.push(() => server.close());
  for (const client of ['ioredis', 'redis']) {
    const url = `redis://127.0.0.1:${server.address().port}`;
    await fails(connected(client, url), /ledger: expected an answer/);
  }
});

test('a client that is none, or that would hide our keys', () => {
  for (const client of [undefined, {}, 'redis://localhost']) {
    assert.throws(() => new RedisLedger(client), TypeError);
  }
  const client = new Redis({ lazyConnect: true, keyPrefix: 'mine:' });
  assert.throws(() => new RedisLedger(client), { code: 'invalid_argument' });
});

// ---- SQLite ----

test('SQLite: a lock held elsewhere, a file of another kind, one that cannot be written', {
  skip: noSqlite,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'ledger.db');
  const ledger = new SqliteLedger(database(path));
  assert.ok(existsSync(path));
  const other = database(path);
  other.exec('BEGIN IMMEDIATE');
  const server = await fails(ledger, /database is locked|SQLITE_BUSY/);
  other.exec('ROLLBACK');
  await revoked(server.guard);

  other.exec("UPDATE sealwax_ledger SET value = 'garbage' WHERE key LIKE '%:fence'");
  await fails(ledger, /ledger: expected a record of the ledger under swl1:/);
  other.exec('DROP TABLE sealwax_ledger');
  await fails(ledger, /no such table|SQL logic error|SQLITE_ERROR/);
  other.exec('CREATE TABLE sealwax_ledger (a)');
  assert.throws(() => new SqliteLedger(database(path)), /no such column/);
  other.exec('DROP TABLE sealwax_ledger');
  other.exec('PRAGMA query_only = 1');
  assert.throws(() => new SqliteLedger(other), /readonly|read-only/);
});

test('SQLite: a file that another process sets up is waited for, and others are served', {
  skip: noSqlite,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'ledger.db');
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

test('SQLite: a BEGIN that failed locks nobody out', { skip: noSqlite }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const one = database(join(folder, 'ledger.db'));
  let fails = false;
  const interrupted = new Proxy(one, {
    get: (of, name) => {
      if (name !== 'exec') return of[name].bind(of);
      return (sql) => {
        of.exec(sql);
        if (fails && sql.startsWith('BEGIN')) throw new Error('interrupted after it has begun');
      };
    },
  });
  const guards = [interrupted, database(join(folder, 'ledger.db'))].map(
    (it) => served(new SqliteLedger(it)).guard,
  );
  fails = true;
  await assert.rejects(guards[0].revoke({ subject: 'alice' }));
  await revoked(guards[1]);
  fails = false;
  await revoked(guards[0]);
});

test("SQLite: a new file is its owner's alone, one that is there keeps its permissions", {
  skip: noSqlite,
}, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const mode = (name) => statSync(join(folder, name)).mode & 0o777;
  const opened = database(join(folder, 'new.db'));
  assert.ok(new SqliteLedger(opened));
  for (const name of ['new.db', 'new.db-wal', 'new.db-shm']) assert.equal(mode(name), 0o600, name);
  chmodSync(join(folder, 'new.db'), 0o660);
  assert.ok(new SqliteLedger(database(join(folder, 'new.db'))));
  assert.equal(mode('new.db'), 0o660);
  assert.ok(new SqliteLedger(database(':memory:')));
});

test('SQLite: what survives no loss of power is chosen', { skip: noSqlite }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const level = (given) => {
    const opened = database(join(folder, 'ledger.db'));
    assert.ok(new SqliteLedger(opened, given));
    return opened.prepare('PRAGMA synchronous').get().synchronous;
  };
  assert.equal(level(), 2);
  assert.equal(level({ durable: false }), 1);
  assert.throws(() => level({ durable: 'no' }), TypeError);
});
