// The examples, as they come: official clients against them, over HTTP and stdio, and two replicas of each.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SignJWT } from 'jose';
import { answer, Key } from 'sealwax';
import { compiled, connected, LEGACY, MODERN, SESSION } from './client.mjs';

const [NOTES, COUNTER] = ['notes.js', 'sessions.js'].map((name) =>
  fileURLToPath(new URL(name, import.meta.url)),
);
const SEALWAX_KEYS = Key.generate().toText();
const NOTES_JWT_SECRET = 'a secret of the identity provider, long enough';
const ISSUER = 'https://idp.example.com';
const children = [];
after(() => children.map((child) => child.kill()));

/** Starts a program on a port of its own choice. */
async function listening(program, env = {}) {
  const child = spawn(process.execPath, [program], {
    env: { ...compiled, SEALWAX_KEYS, PORT: '0', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  children.push(child);
  const line = await new Promise((told) => createInterface(child.stderr).once('line', told));
  return new URL(line.match(/^listening on (http:\/\/127\.0\.0\.1:\d+\/mcp)$/)[1]);
}

/** A way to a program that is started for it. */
async function reaching(transport, program) {
  if (transport === 'http') return new StreamableHTTPClientTransport(await listening(program));
  const env = { ...compiled, SEALWAX_KEYS };
  const command = { command: process.execPath, args: [program], env, stderr: 'ignore' };
  return new StdioClientTransport(command);
}

async function bearer(claims, expires = '1h') {
  const key = new TextEncoder().encode(NOTES_JWT_SECRET);
  const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setExpirationTime(expires);
  return { requestInit: { headers: { authorization: `Bearer ${await jwt.sign(key)}` } } };
}

const client = async (url, claims) =>
  connected(new StreamableHTTPClientTransport(url, await bearer(claims)));

// ---- notes ----

const text = (result) => result.content[0].text;
const ways = [MODERN, LEGACY].flatMap((era) => ['http', 'stdio'].map((way) => [way, era]));

for (const [transport, era] of ways) {
  // Over HTTP no replica holds a connection by which an earlier client could be asked.
  if (`${transport} ${era}` !== `http ${LEGACY}`)
    test(`${transport}, ${era}: a note is deleted once the user agreed`, async () => {
      const mode = era === MODERN ? { pin: MODERN } : 'legacy';
      const options = { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } };
      const client = new Client({ name: 'user', version: '1.0.0' }, options);
      const [asked, answers] = [[], [true, false, undefined]];
      client.setRequestHandler('elicitation/create', ({ params }) => {
        asked.push(params.message);
        const confirm = answers.shift();
        if (confirm === undefined) return { action: 'decline' };
        return { action: 'accept', content: { confirm } };
      });
      await client.connect(await reaching(transport, NOTES));
      for (const outcome of ['deleted', 'kept', 'kept']) {
        const deleted = await client.callTool({ name: 'delete_note', arguments: { id: 7 } });
        assert.equal(text(deleted), `note 7 ${outcome}`);
        assert.deepEqual(asked.splice(0), ['Delete note 7?']);
      }
      await client.close();
    });

  test(`${transport}, ${era}: the list comes in pages, a basket is filled`, async () => {
    const client = await connected(await reaching(transport, NOTES), era);
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
    const { basket, expiresAt } = empty.structuredContent;
    assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 3_600_000) < 5000);
    const added = (basket) => client.call('add_to_basket', { basket, item: 'pen' });
    assert.deepEqual((await added(basket)).result.structuredContent.items, ['pen']);
    const { content, isError } = (await added(`${basket}x`)).result;
    assert.deepEqual({ content, isError }, answer('handle').toolResult);
    await client.client.close();
  });
}

test('a retry lands on another replica; another user or a stranger gets nowhere', async () => {
  const known = () => listening(NOTES, { NOTES_JWT_SECRET });
  const [one, two] = [await known(), await known()];
  const aud = 'https://notes.example.com';
  const alice = { iss: ISSUER, sub: 'alice', client_id: 'app', aud };
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

  for (const { requestInit } of [
    {},
    await bearer(alice, '-1h'),
    await bearer({ ...alice, aud: undefined }),
    await bearer({ ...alice, aud: 'https://other.example.com' }),
    { requestInit: { headers: { authorization: 'Bearer x' } } },
  ]) {
    assert.equal((await fetch(two, { method: 'POST', ...requestInit })).status, 401);
  }
});

// ---- sessions ----

/** A conversation in a session of its own. */
async function conversation(client) {
  let metadata = (await client.send('sessions/create', {})).result.session;
  return async (name, args = {}) => {
    const { sessionId, state } = metadata;
    const _meta = { [SESSION]: { sessionId, state } };
    const { result } = await client.call(name, args, { _meta });
    metadata = { ...metadata, ...result._meta[SESSION] };
    return result.isError ? 'isError' : text(result);
  };
}

for (const [transport, era] of ways) {
  test(`${transport}, ${era}: conversations of one client, side by side`, async () => {
    const client = await connected(await reaching(transport, COUNTER), era);
    const [one, two] = [await conversation(client), await conversation(client)];
    for (const [say, name, expected, args] of [
      [one, 'count', '1'],
      [two, 'count', '1'],
      [one, 'write', 'isError', { text: 'x' }],
      [one, 'read', 'isError'],
      [one, 'begin', 'begun'],
      [one, 'write', undefined, { text: 'Dear ' }],
      [one, 'count', '2'],
      [one, 'write', undefined, { text: 'Alice' }],
      [two, 'read', 'isError'],
      [one, 'read', 'Dear Alice'],
      [one, 'end', 'Dear Alice'],
      [one, 'end', 'isError'],
      [one, 'count', '3'],
    ]) {
      const said = await say(name, args);
      if (expected !== undefined) assert.equal(said, expected);
    }
    const { error } = await client.call('count', {});
    assert.deepEqual(error, answer('data-layer-required').error);
    await client.client.close();
  });
}
