// A guard with a ledger in a real store, at two replicas of one service.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { Key } from 'sealwax';
import { compiled, connected, listen, sleep, told } from './client.mjs';
import { ledgerOf, noSqlite } from './ledgers.mjs';
import { ISSUER, world } from './server.mjs';
import { valkey } from './valkey.mjs';
import { door } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const keys = Key.generate().toText();
const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
let store;
before(async () => {
  store = await valkey();
});
after(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

/** By engine, what makes a ledger that replicas share. */
const engines = {
  sqlite: () => ({ engine: 'sqlite', path: join(folder, 'shared.db') }),
  ioredis: () => ({ engine: 'redis', url: store.url, client: 'ioredis' }),
  redis: () => ({ engine: 'redis', url: store.url, client: 'redis' }),
};

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

const userOf = (subject) => ({ issuer: ISSUER, client: 'app', subject });

/** A replica over HTTP, whose clients say who they are. */
async function replica(t, config) {
  const refusals = [];
  const ledger = ledgerOf(config.ledger);
  t.after(() => ledger.close?.());
  const principal = ({ http }) => userOf(http.req.headers.get('x-user'));
  const onRefused = ({ code }) => refusals.push(code);
  const { guard, factory } = world({ keys, ...config, ledger }, principal, onRefused);
  const { url, close } = await listen(guard.node(createMcpHandler(factory).fetch));
  t.after(close);
  const connect = async (user) => {
    const requestInit = { headers: { 'x-user': user } };
    const client = await connected(new StreamableHTTPClientTransport(url, { requestInit }));
    t.after(() => client.client.close());
    return client;
  };
  return { guard, refusals, connect };
}

const within = ({ sessionId, state }) => ({ _meta: { [META]: { sessionId, state } } });
const created = async (client) => within((await client.send('sessions/create', {})).result.session);
const latest = ({ result }) => result._meta[META];

for (const [engine, shared] of Object.entries(engines)) {
  const skip = engine === 'sqlite' && noSqlite;
  test(`${engine}: what is used, written, ended or revoked at one replica is so at all`, {
    skip,
  }, async (t) => {
    const config = { ledger: shared(), meet: meeting(), ledgerOptions: { label: engine } };
    const [one, other] = [await replica(t, config), await replica(t, config)];
    const [alice, there, bob] = [
      await one.connect('alice'),
      await other.connect('alice'),
      await other.connect('bob'),
    ];
    const assertRefused = async (code, ...works) => {
      for (const work of works) {
        other.refusals.length = 0;
        await work();
        assert.deepEqual(other.refusals, [code]);
      }
    };

    const asked = async () => (await alice.call('ask', {})).result.requestState;
    const requestState = await asked();
    const again = () => there.call('ask', {}, { requestState });
    assert.equal(told(await again()).asked, 7);
    await assertRefused('used', again);

    const session = await created(alice);
    const both = await Promise.all(
      [alice, there].map((client) => client.call('write_at_once', {}, session)),
    );
    const [[lost], [won]] = [true, undefined].map((is) =>
      both.filter(({ result }) => result.isError === is),
    );
    assert.deepEqual(lost.result._meta['io.github.sealwax/stale'], { ran: true });
    assert.deepEqual(latest(lost), latest(won));
    const written = within(latest(lost));
    assert.equal(told(await alice.call('read', {}, written)).count, 1);

    const { handle } = told(await alice.call('mint', {}));
    const held = told(await alice.call('hold', { value: [1] }));
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

    const [mine, bobs, unused] = [await created(alice), await created(bob), await asked()];
    assert.ok((await there.call('read', {}, mine)).result.content);
    await one.guard.revoke(userOf('alice'), 3600);
    await assertRefused(
      'revoked',
      () => there.call('read', {}, mine),
      () => there.call('ask', {}, { requestState: unused }),
    );
    assert.ok((await bob.call('read', {}, bobs)).result.content);
    await assert.rejects(one.guard.revoke('alice'), TypeError);
    await assert.rejects(one.guard.revoke({ subject: 'a' }, -1), { code: 'invalid_argument' });
  });
}

test('stdio: a state is good once in processes that share a file', {
  skip: noSqlite,
}, async (t) => {
  const refusals = [];
  const ledger = { engine: 'sqlite', path: join(folder, 'processes.db') };
  const env = { ...compiled, TEST_CONFIG: JSON.stringify({ keys, ledger }) };
  const [one, other] = await Promise.all(
    [1, 2].map(async () => {
      const command = { command: process.execPath, args: [SERVER], env, stderr: 'pipe' };
      const transport = new StdioClientTransport(command);
      createInterface(transport.stderr).on('line', (line) => refusals.push(JSON.parse(line).code));
      const client = await connected(transport);
      t.after(() => client.client.close());
      return client;
    }),
  );
  const { requestState } = (await one.call('ask', {})).result;
  assert.equal(told(await other.call('ask', {}, { requestState })).asked, 7);
  assert.ok((await one.call('ask', {}, { requestState })).error);
  while (refusals.length === 0) await sleep(10);
  assert.deepEqual(refusals, ['used']);
});
