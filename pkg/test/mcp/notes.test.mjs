// The example, as it comes: official clients against it, over HTTP and stdio, and two replicas.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { jwtVerify, SignJWT } from 'jose';
import { answer, Key } from 'sealwax';
import { compiled, connected, LEGACY, MODERN } from './client.mjs';

const NOTES = fileURLToPath(new URL('notes.js', import.meta.url));
const SEALWAX_KEYS = Key.generate().toText();
const NOTES_JWT_SECRET = 'a secret of the identity provider, long enough';
const AUDIENCE = 'https://notes.example.com';
const children = [];
after(() => children.map((child) => child.kill()));

/** Starts it on a port of its own choice. */
async function listening(env) {
  const child = spawn(process.execPath, [NOTES], {
    env: { ...compiled, SEALWAX_KEYS, PORT: '0', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  children.push(child);
  const [line] = await new Promise((told) =>
    createInterface(child.stderr).once('line', (...line) => told(line)),
  );
  return new URL(line.match(/^listening on (http:\/\/127\.0\.0\.1:\d+\/mcp)$/)[1]);
}

async function bearer({ aud = AUDIENCE, ...claims }, expires = '1h') {
  const key = new TextEncoder().encode(NOTES_JWT_SECRET);
  const jwt = new SignJWT({ ...claims, ...(aud && { aud }) })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(expires);
  const token = await jwt.sign(key);
  await jwtVerify(token, key).catch(() => {});
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

const overStdio = () =>
  new StdioClientTransport({
    ...{ command: process.execPath, args: [NOTES] },
    env: { ...compiled, SEALWAX_KEYS },
  });

/** A user's client, which answers what it is asked by what `confirms` gives. */
async function user(transport, era, confirms) {
  const asked = [];
  const client = new Client(
    { name: 'user', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: era === MODERN ? { pin: MODERN } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    const confirm = confirms();
    return confirm === undefined
      ? { action: 'decline' }
      : { action: 'accept', content: { confirm } };
  });
  await client.connect(transport);
  return { client, asked };
}

const text = (result) => result.content[0].text;
const deleting = (client, id) => client.callTool({ name: 'delete_note', arguments: { id } });

for (const [transport, era] of [
  ['http', MODERN],
  ['stdio', MODERN],
  ['stdio', LEGACY], // the server keeps the state, and asks by itself
]) {
  test(`${transport}, ${era}: a note is deleted once the user agreed`, async () => {
    const open =
      transport === 'http' ? new StreamableHTTPClientTransport(await listening()) : overStdio();
    let confirm;
    const { client, asked } = await user(open, era, () => confirm);
    for (const [answered, outcome] of [
      [true, 'note 7 deleted'],
      [false, 'note 7 kept'],
      [undefined, 'note 7 kept'],
    ]) {
      confirm = answered;
      assert.equal(text(await deleting(client, 7)), outcome);
      assert.deepEqual(asked.splice(0), ['Delete note 7?']);
    }
    await client.close();
  });
}

for (const era of [MODERN, LEGACY]) {
  for (const transport of ['http', 'stdio']) {
    test(`${transport}, ${era}: the list comes in pages, a basket is filled`, async () => {
      const open = async () =>
        transport === 'http' ? new StreamableHTTPClientTransport(await listening()) : overStdio();
      const client = await connected(await open(), era);
      const pages = [];
      let cursor;
      do {
        const { result } = await client.send('resources/list', cursor ? { cursor } : {});
        pages.push(result.resources.length);
        cursor = result.nextCursor;
        if (cursor) assert.match(cursor, /^sw1\./);
      } while (cursor);
      assert.deepEqual(pages, [10, 10, 5]);
      const { error } = await client.send('resources/list', { cursor: '10' });
      assert.deepEqual(error, answer('cursor').error);

      const empty = (await client.call('new_basket', {})).result;
      assert.deepEqual(JSON.parse(text(empty)), empty.structuredContent);
      const { basket, expiresAt, items } = empty.structuredContent;
      assert.deepEqual(items, []);
      assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000) < 5000);
      const filled = await client.call('add_to_basket', { basket, item: 'pen' });
      assert.deepEqual(filled.result.structuredContent.items, ['pen']);
      const { content, isError } = (
        await client.call('add_to_basket', { basket: `${basket}x`, item: 'pen' })
      ).result;
      assert.deepEqual({ content, isError }, answer('handle').toolResult);
      await client.client.close();
    });
  }
}

test('a retry lands on another replica; another user or a stranger gets nowhere', async () => {
  const env = { NOTES_JWT_SECRET };
  const [one, two] = await Promise.all([listening(env), listening(env)]);
  const alice = { iss: 'https://idp.example.com', sub: 'alice', client_id: 'app' };
  const client = async (url, claims) =>
    connected(new StreamableHTTPClientTransport(url, await bearer(claims)));
  const first = await client(one, alice);
  const { requestState } = (await first.call('delete_note', { id: 7 })).result;
  const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } };
  const retry = (client, id = 7) =>
    client.call('delete_note', { id }, { requestState, inputResponses });

  const refused = { jsonrpc: '2.0', error: answer('request-state').error };
  assert.deepEqual(await retry(await client(two, { ...alice, sub: 'mallory' })), refused);
  assert.deepEqual(await retry(await client(two, { ...alice, client_id: 'other' })), refused);
  // The same client by another claim is the same user.
  const { client_id, ...rest } = alice;
  const second = await client(two, { ...rest, azp: client_id });
  assert.deepEqual(await retry(second, 8), refused);
  assert.equal(text((await retry(second)).result), 'note 7 deleted');

  const nobody = await client(two, { iss: alice.iss, client_id: 'app' });
  const internal = answer('request-state', { error: null }).error;
  assert.deepEqual((await nobody.call('delete_note', { id: 1 })).error, internal);
  const strangers = [
    {},
    await bearer(alice, '-1h'),
    await bearer({ ...alice, aud: null }),
    await bearer({ ...alice, aud: 'https://other.example.com' }),
    { requestInit: { headers: { authorization: 'Bearer x' } } },
  ];
  for (const { requestInit } of strangers) {
    assert.equal((await fetch(two, { method: 'POST', ...requestInit })).status, 401);
  }
});

test('without keys it says how to make some', () => {
  const { status, stderr } = spawnSync(process.execPath, [NOTES], { env: {}, encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /sealwax keygen/);
});
