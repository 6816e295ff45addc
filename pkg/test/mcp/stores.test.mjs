// What is said and done where a ledger's store is not as it should be: nothing is accepted, the client is
// told that the server failed, and the log says why, without what opens the store.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, stat } from 'node:fs';
import { createServer as createHttp } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { inspect } from 'node:util';

import { Redis as Upstash } from '@upstash/redis';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { anonymous } from 'sealwax';
import { LedgerUnfit, RedisLedger, SqliteLedger } from 'sealwax/mcp';
import { clients, database, ledgerOf } from './ledgers.mjs';
import { freePort, valkey } from './valkey.mjs';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

const SECRET = 'hunter2hunter2';
const closing = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function started(options) {
  const server = await valkey(options);
  closing.push(() => server.close());
  return server;
}

/** A ledger on a client that is closed after the test. */
function connected(client, url) {
  const made = clients[client](url);
  closing.push(() => (client === 'ioredis' ? made.disconnect() : made.destroy()));
  return new RedisLedger(made);
}

/** A server with a state, a handle and a session; what it logs and tells. */
function served(ledger, options = {}) {
  const lines = [];
  const events = [];
  const guard = guardOf({
    ...{ ledger, onRefused: (event) => events.push(event) },
    logger: { warn: (line) => lines.push(line) },
    ...options,
  });
  const rows = guard.handles('row');
  const factory = factoryOf(
    {
      'tools/call': async ({ params }, ctx) => {
        if (params.name === 'mint') return text((await rows.mint(ctx)).handle);
        if (params.name === 'end') await rows.end(ctx, params.arguments.handle);
        if (params.name === 'check') await rows.check(ctx, params.arguments.handle);
        if (ctx.mcpReq.requestState() !== undefined || params.name !== 'ask') return text('done');
        return { resultType: 'input_required', requestState: guard.state(ctx, 1) };
      },
    },
    guard,
  );
  const call = async (name, args = {}, more = {}) => {
    const sent = modern(1, 'tools/call', { name, arguments: args, ...more });
    return (await overHttp(factory, ...sent)).messages[0];
  };
  /** The same, as soon as a busy machine answers in time. */
  const steady = async (...given) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await call(...given);
      const late = answer.error?.code === -32603 && /in time/.test(events.at(-1)?.message);
      if (!late || tries === 20) return answer;
    }
  };
  return {
    ...{ guard, lines, events, call, steady },
    asked: async () => (await call('ask')).result.requestState,
    again: (requestState) => call('ask', {}, { requestState }),
  };
}

/** Signs somebody out, as soon as a busy machine does it in time. */
async function revoked(guard) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await guard.revoke({ subject: 'alice' });
    } catch (error) {
      if (tries === 20 || !/in time/.test(error.message)) throw error;
    }
  }
}

/** A request whose state cannot be judged is the server's failure, in time, and the log says why. */
async function fails(ledger, why) {
  const server = served(ledger);
  for (let tries = 1; ; tries += 1) {
    const from = performance.now();
    const { result, error } = await server.again(await server.asked());
    const took = performance.now() - from;
    assert.deepEqual([result, error], [undefined, { code: -32603, message: 'Internal error' }]);
    assert.ok(took < 20_000, `${took} ms`);
    const event = server.events.at(-1);
    assert.equal(event.code, 'ledger_unavailable');
    // On a busy machine even a good answer may come late.
    if (tries < 20 && /in time/.test(event.message) && !why.test(event.message)) continue;
    assert.match(event.message, why);
    assert.match(server.lines.at(-1), why);
    assert.doesNotMatch(inspect([server.lines, server.events], { depth: 9 }), new RegExp(SECRET));
    return server;
  }
}

for (const client of ['ioredis', 'redis']) {
  test(`${client}: a store that is down`, async () => {
    const url = `redis://:${SECRET}@127.0.0.1:${await freePort()}`;
    const { guard } = await fails(connected(client, url), /ledger: expected an answer/);
    const error = await guard.revoke({ subject: 'alice' }).catch((error) => error);
    assert.match(error.message, /ledger: expected an answer/);
    assert.doesNotMatch(inspect(error, { depth: 9 }), new RegExp(SECRET));
  });

  test(`${client}: a store that never answers, and then does`, async () => {
    const store = await started();
    const ledger = connected(client, store.url);
    await ledger.check();
    store.pause();
    const server = await fails(ledger, /expected an answer in time, found none/);
    store.resume();
    const { result, error } = await server.again(await server.asked());
    // It is as new as the ledger.
    assert.equal(result, undefined);
    assert.equal(error.code, -32602);
    assert.equal(server.events.at(-1).code, 'unknown');
  });

  test(`${client}: a store with another password`, async () => {
    const store = await started({ requirepass: 'x' });
    const url = store.url.replace(':x@', `:${SECRET}@`);
    await fails(connected(client, url), /ledger: expected an answer/);
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
    const server = served(ledger, { ledgerOptions: { adopt: 0 } });
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
    assert.equal(server.events[0].code, 'ledger_unconfirmed');
    assert.match(server.lines.at(-1), /no replica confirmed it: a fail-over would forget it/);
  });
}

test('what answers in another way is no ledger', async () => {
  const told = (answer) => new RedisLedger({ sendCommand: async () => answer });
  await fails(told('garbage'), /INFO: expected the answer of a Redis or a Valkey/);
  await fails(told('redis_version:6.0.16\r\nrole:master'), /expected Redis 6\.2 or later/);
  const replying = (reply) =>
    new RedisLedger({
      sendCommand: async ([name]) => (name === 'INFO' ? 'redis_version:7.0.0' : reply),
    });
  for (const reply of [undefined, null, 'OK', [], ['yes'], [null], ['ok '], {}]) {
    await fails(replying(reply), /ledger: expected a reply as LEDGER.md specifies/);
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
  const server = served({ run });
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

test('SQLite: a lock held elsewhere, a file of another kind, one that cannot be written', async () => {
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

test('SQLite: what survives no loss of power is chosen', () => {
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

// ---- several servers, and none ----

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
    for (let tries = 0; tries < 200; tries += 1) {
      const told = await admin.call('cluster', 'info');
      if (/cluster_state:ok/.test(told) && /cluster_known_nodes:2/.test(told)) break;
      await new Promise((later) => setTimeout(later, 50));
    }
  }
  return nodes;
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
      const server = served(ledger, { ledgerOptions: { label, adopt: 1 } });
      const handle = (await server.call('mint')).result.content[0].text;
      assert.ok((await server.steady('check', { handle })).result);
      assert.equal((await server.call('end', { handle })).result.content[0].text, 'done');
      assert.equal((await server.steady('check', { handle })).error.code, -32602);
      assert.equal(server.events.at(-1).code, 'ended');
    }
  }
  const counts = await Promise.all([admin, other.admin].map((one) => one.dbsize()));
  assert.ok(
    counts.every((count) => count > 0),
    `${counts}`,
  );
});

/** Upstash's REST protocol in front of a Valkey. */
async function rest(store, forbidden = []) {
  const server = createHttp(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const [name, ...args] = JSON.parse(body);
    const told = async () => {
      if (forbidden.includes(name)) return { error: `ERR unknown command '${name}'` };
      const result = await store.admin.call(name, ...args);
      return { result };
    };
    const answer = await told().catch(({ message }) => ({ error: message }));
    response.statusCode = answer.error ? 400 : 200;
    const encoded = (value) => {
      if (Array.isArray(value)) return value.map(encoded);
      return typeof value === 'string' && value !== 'OK'
        ? Buffer.from(value).toString('base64')
        : value;
    };
    response.end(JSON.stringify(answer.error ? answer : { result: encoded(answer.result) }));
  });
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
  closing.push(() => server.closeAllConnections() ?? server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

test('Upstash: by REST, where texts stay texts', async () => {
  const store = await started();
  const url = await rest(store);
  const ledger = new RedisLedger(clients.upstash(url));
  const server = served(ledger, { ledgerOptions: { adopt: 1 } });
  const handle = (await server.call('mint')).result.content[0].text;
  assert.equal((await server.steady('check', { handle })).result.content[0].text, 'done');
  assert.equal((await server.call('end', { handle })).result.content[0].text, 'done');
  assert.equal((await server.steady('check', { handle })).error.code, -32602);
  assert.equal(server.events.at(-1).code, 'ended');
  await server.guard.revoke(anonymous);
  assert.equal((await server.steady('check', { handle })).error.code, -32602);

  const parsing = new Upstash({ url, token: SECRET, retry: false });
  await fails(new RedisLedger(parsing), /set automaticDeserialization: false/);
  const unasked = new Upstash({
    ...{ url: await rest(store, ['INFO']), token: SECRET, retry: false },
    automaticDeserialization: false,
  });
  await fails(new RedisLedger(unasked), /ledger: expected an answer, found/);
});

test('a service that forbids INFO in scripts needs a replica to confirm each command', async () => {
  const store = await started();
  await store.admin.acl('SETUSER', 'app', 'on', `>${SECRET}`, '~*', '+@all', '-info');
  await store.admin.acl('SETUSER', 'default', '+@all');
  const url = store.url.replace('redis://', `redis://app:${SECRET}@`);
  const one = clients.ioredis(url);
  closing.push(() => one.disconnect());
  // The server's settings are told by a user who may ask.
  const info = await store.admin.info();
  const asking = (client) => ({
    call: (name, ...args) => (name === 'info' ? info : client.call(name, ...args)),
  });
  await assert.rejects(
    revoked(served(new RedisLedger(asking(one))).guard),
    /no replica confirmed it: a fail-over would forget it/,
  );
  const cluster = { ...asking(one), isCluster: true, nodes: () => [asking(one)] };
  await fails(new RedisLedger(cluster), /scripts: expected a server that allows INFO in them/);
});
