// The example of sessions, as it comes: several conversations of one client side by side, over
// HTTP and stdio, and two replicas.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SignJWT } from 'jose';
import { answer, Key } from 'sealwax';
import { compiled, connected, LEGACY, MODERN, sleep } from './client.mjs';

const META = 'io.modelcontextprotocol/session';
const COUNTER = fileURLToPath(new URL('sessions.js', import.meta.url));
const SEALWAX_KEYS = Key.generate().toText();
const NOTES_JWT_SECRET = 'a secret of the identity provider, long enough';
const children = [];
after(() => children.map((child) => child.kill()));

async function listening(log = [], env = {}) {
  const child = spawn(process.execPath, [COUNTER], {
    env: { ...compiled, SEALWAX_KEYS, PORT: '0', ...env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  children.push(child);
  const lines = createInterface(child.stderr);
  const line = await new Promise((told) => lines.once('line', told));
  lines.on('line', (line) => log.push(line));
  return new URL(line.match(/^listening on (http:\/\/127\.0\.0\.1:\d+\/mcp)$/)[1]);
}

/** A conversation: its session, over whichever clients. */
async function conversation(first) {
  let metadata = (await first.send('sessions/create', {})).result.session;
  return async (name, args = {}, client = first) => {
    const { sessionId, state } = metadata;
    const _meta = { [META]: { sessionId, state } };
    const { result } = await client.send('tools/call', { name, arguments: args, _meta });
    metadata = { ...metadata, ...result._meta[META] };
    return result.isError ? 'isError' : result.content[0].text;
  };
}

for (const era of [MODERN, LEGACY]) {
  for (const transport of ['http', 'stdio']) {
    test(`${transport}, ${era}: conversations of one client, side by side`, async () => {
      const log = [];
      let wire;
      if (transport === 'http') wire = new StreamableHTTPClientTransport(await listening(log));
      else {
        const command = process.execPath;
        wire = new StdioClientTransport({
          ...{ command, args: [COUNTER], env: { ...compiled, SEALWAX_KEYS }, stderr: 'pipe' },
        });
        createInterface(wire.stderr).on('line', (line) => log.push(line));
      }
      const client = await connected(wire, era);
      const [one, two] = [await conversation(client), await conversation(client)];
      assert.deepEqual(
        [await one('count'), await one('count'), await two('count')],
        [...['1', '2', '1']],
      );
      assert.deepEqual(
        [await one('write', { text: 'x' }), await one('read')],
        [...['isError', 'isError']],
      );
      assert.equal(await one('begin'), 'begun');
      await one('write', { text: 'Dear ' });
      await one('count');
      await one('write', { text: 'Alice' });
      assert.equal(await two('read'), 'isError');
      assert.equal(await one('read'), 'Dear Alice');
      assert.equal(await one('end'), 'Dear Alice');
      assert.equal(await one('end'), 'isError');
      assert.equal(await one('count'), '4');

      const { error } = await client.call('count', {});
      assert.deepEqual(error, answer('data-layer-required').error);
      await sleep(50);
      const shown = log.filter((line) => !line.includes(' sealwax: '));
      assert.match(shown[0], /^count: session [0-9a-f]{32}, generation 0$/);
      assert.match(shown[1], /^count: session [0-9a-f]{32}, generation 1$/);
      assert.equal(new Set(shown.map((line) => line.match(/[0-9a-f]{32}/)[0])).size, 2);
      await client.client.close();
    });
  }
}

test('a transaction goes on at another replica, for whose it is', async () => {
  const env = { NOTES_JWT_SECRET };
  const urls = await Promise.all([listening([], env), listening([], env)]);
  const client = async (url, sub) => {
    const key = new TextEncoder().encode(NOTES_JWT_SECRET);
    const claims = {
      iss: 'https://idp.example.com',
      aud: 'https://counter.example.com',
      sub,
      client_id: 'app',
    };
    const jwt = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h');
    const headers = { authorization: `Bearer ${await jwt.sign(key)}` };
    return connected(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  };
  const [one, two] = [await client(urls[0], 'alice'), await client(urls[1], 'alice')];
  const say = await conversation(one);
  await say('begin');
  await say('write', { text: 'moved' }, two);
  assert.equal(await say('end', {}, one), 'moved');

  const { sessionId, state } = (await one.send('sessions/create', {})).result.session;
  const mallory = await client(urls[1], 'mallory');
  const _meta = { [META]: { sessionId, state } };
  const { error } = await mallory.send('tools/call', { name: 'count', arguments: {}, _meta });
  assert.deepEqual(error, answer('data-layer', { sessionId }).error);
});
