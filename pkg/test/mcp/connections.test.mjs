// The connections of a ledger to its store: what one user's requests wait for holds up nobody else, and a way may be long. What
// becomes of one that fails, or is silent, tests/vectors/stores.json says.

import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { RedisLedger } from 'sealwax/mcp';
import { clients, closing, served, started, until } from './stores.mjs';

for (const client of ['ioredis', 'redis']) {
  const ledger = (url) => new RedisLedger(clients[client](url));

  test(`${client}: while a replica hangs, the ends of one user hold up nobody`, async () => {
    const master = await started();
    const replica = await started({ replicaof: `127.0.0.1 ${master.port}` });
    await until(async () => /state=online/.test(await master.admin.info('replication')));
    const ledgerOptions = { acceptIssuedSince: 1 };
    const { call, minted } = served(ledger(master.url), { timeLimit: 60, ledgerOptions });
    replica.pause();
    closing.push(() => replica.resume());
    let least = 0;
    // All of them wait for the replica for a while. On a busy machine that while may be over before.
    for (let tries = 0; tries < 20 && least < 15; tries += 1) {
      const mine = await minted();
      const theirs = await Promise.all(Array.from({ length: 30 }, minted));
      let waiting = theirs.length;
      const ends = theirs.map(async (handle) => {
        const { result } = await call('end', { handle });
        waiting -= 1;
        return result?.content[0].text;
      });
      while (!/blocked_clients:[1-9]/.test(await master.admin.info('clients')) && waiting > 0);
      const { result } = await call('check', { handle: mine });
      assert.equal(result?.content[0].text, 'done');
      least = waiting;
      assert.deepEqual([...new Set(await Promise.all(ends))], ['done']);
    }
    assert.ok(least >= 15, `${least} waited still`);
  });

  test(`${client}: a store that is 100 ms away serves, as soon as it is connected`, async () => {
    const store = await started();
    const options = { timeLimit: 1, ledgerOptions: { clockTolerance: 0 } };
    const { again, asked } = served(ledger(await between(store.port, 50)), options);
    for (let tries = 1; !(await again(await asked())).result; tries += 1) assert.ok(tries < 100);
  });
}

/** A way to a port that takes so many milliseconds. */
async function between(port, ms) {
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ]) {
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), ms));
      from.on('error', () => {}).on('close', () => to.destroy());
    }
  });
  await new Promise((listening) => proxy.listen(0, '127.0.0.1', listening));
  closing.push(() => proxy.close());
  return `redis://127.0.0.1:${proxy.address().port}`;
}
