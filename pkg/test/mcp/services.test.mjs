// A ledger in a Cluster, and at Upstash.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Redis as Upstash } from '@upstash/redis';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { anonymous } from 'sealwax';
import { RedisLedger } from 'sealwax/mcp';
import { clients } from './ledgers.mjs';
import { rest } from './rest.mjs';
import { closing, fails, SECRET, served, started, until } from './stores.mjs';

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
});

test('Upstash: by REST, where texts stay texts', async () => {
  const store = await started();
  const restOf = async (forbidden) => {
    const { url, close } = await rest(store, forbidden);
    closing.push(close);
    return url;
  };
  const url = await restOf();
  const ledger = new RedisLedger(clients.upstash(url));
  const server = served(ledger, { ledgerOptions: { acceptIssuedSince: 1 } });
  await ends(server);
  const handle = await server.minted();
  await server.guard.revoke(anonymous);
  assert.equal((await server.steady('check', { handle })).error.code, -32602);
  assert.equal(server.events.at(-1).code, 'revoked');

  const parsing = new Upstash({ url, token: SECRET, retry: false });
  await fails(new RedisLedger(parsing), /set automaticDeserialization: false/);
  const unasked = new Upstash({
    ...{ url: await restOf(['INFO']), token: SECRET, retry: false },
    automaticDeserialization: false,
  });
  await fails(new RedisLedger(unasked), /ledger: expected an answer, found/);
});

test('a Cluster that forbids INFO in scripts is none', async () => {
  const store = await started();
  await store.admin.acl('SETUSER', 'app', 'on', `>${SECRET}`, '~*', '+@all', '-info');
  const client = clients.ioredis(store.url.replace('redis://', `redis://app:${SECRET}@`));
  closing.push(() => client.disconnect());
  // The server's settings are told by a user who may ask.
  const info = await store.admin.info();
  const one = { call: (name, ...args) => (name === 'info' ? info : client.call(name, ...args)) };
  const cluster = { ...one, isCluster: true, nodes: () => [one] };
  await fails(new RedisLedger(cluster), /scripts: expected a server that allows INFO in them/);
});
