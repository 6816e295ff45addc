// SEP-1359 over HTTP and stdio. The official client's schemas refuse the member as the server's do,
// so a shim takes it off what comes, and puts it on what leaves.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answer, Codec, Key } from 'sealwax';
import { bearer, compiled, connected, during, LEGACY, sleep, told, transports } from './client.mjs';
import { ISSUER } from './server.mjs';

const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const keys = Key.generate().toText();
const audience = 'https://mcp.example.com';
const closing = [];
afterEach(() => Promise.all(closing.splice(0).map((each) => each.close())));

const refusal = (sessionId) => ({ jsonrpc: '2.0', error: answer('sep-1359', { sessionId }).error });
const internal = { jsonrpc: '2.0', error: answer('sep-1359', { error: null }).error };

/** The shim: a transport of the SDK's that speaks the SEP. `seen` is all that came, as it came. */
function shimmed(transport, peer) {
  const { send } = transport;
  transport.send = (message, options) => {
    const { sessionId } = peer;
    const carried = sessionId === undefined || message.method === 'initialize';
    return send.call(transport, carried ? message : { ...message, sessionId }, options);
  };
  const { start } = transport;
  transport.start = () => {
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      peer.seen.push(message);
      if (message.result?.sessionTimeout !== undefined) {
        peer.sessionId ??= message.result.sessionId;
        peer.timeout = message.result.sessionTimeout;
      }
      const { sessionId: _, ...rest } = message;
      if (rest.result) {
        const { sessionId, sessionTimeout, ...result } = rest.result;
        rest.result = result;
      }
      onmessage(rest, extra);
    };
    return start.call(transport);
  };
  return transport;
}

/** Servers of one config, and peers that speak the SEP to them. */
const ways = {
  async http(config) {
    const fetch = { sep1359: true, ...config.life };
    const server = await transports.http({ keys, ...config, fetch });
    closing.push(server);
    return {
      events: server.events,
      url: server.url,
      async connect(user, peer = { seen: [], wire: [] }) {
        const requestInit = { headers: { authorization: await bearer(user) } };
        // The body alone: the header has tests of its own.
        const bodyAlone = async (url, init) => {
          const headers = new Headers(init.headers);
          if (peer.sessionId !== undefined) headers.delete('mcp-session-id');
          const response = await globalThis.fetch(url, { ...init, headers });
          response
            .clone()
            .text()
            .then(
              (text) => peer.wire.push(text),
              () => {}, // closed before its end
            );
          return response;
        };
        const options = { requestInit, fetch: bodyAlone };
        const transport = shimmed(new StreamableHTTPClientTransport(server.url, options), peer);
        const client = await connected(transport, LEGACY);
        closing.unshift(client.client);
        return Object.assign(client, { peer });
      },
    };
  },

  async stdio(config) {
    const events = [];
    return {
      events,
      async connect(user, peer = { seen: [], wire: [] }) {
        const TEST_CONFIG = JSON.stringify({ keys, ...config, user, sep1359: config.life ?? {} });
        const env = { ...compiled, TEST_CONFIG };
        const transport = shimmed(
          new StdioClientTransport({
            ...{ command: process.execPath, args: [SERVER], env, stderr: 'pipe' },
          }),
          peer,
        );
        createInterface(transport.stderr).on('line', (line) => events.push(JSON.parse(line)));
        const client = await connected(transport, LEGACY);
        transport._process.stdout.on('data', (chunk) => peer.wire.push(`${chunk}`));
        closing.unshift(client.client);
        return Object.assign(client, { peer });
      },
    };
  },
};

/** A request with whatever session, past what the peer has. */
async function sent(client, sessionId, method = 'tools/call') {
  const { peer } = client;
  const own = peer.sessionId;
  peer.sessionId = sessionId;
  try {
    return await client.send(method, { name: 'mint', arguments: {} });
  } finally {
    peer.sessionId = own;
  }
}

/** A plain request of Alice's, with the session in its header, its body, or both. */
async function post(url, { header, sent, method = 'POST' }) {
  const message = { jsonrpc: '2.0', id: 5, method: 'ping', ...(sent && { sessionId: sent }) };
  const response = await fetch(url, {
    method,
    headers: {
      authorization: await bearer('alice'),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(header && { 'mcp-session-id': header }),
    },
    ...(method === 'POST' && { body: JSON.stringify(message) }),
  });
  return { status: response.status, text: await response.text() };
}

for (const [transport, serve] of Object.entries(ways)) {
  test(`${transport}: initialize begins a session, and messages carry it both ways`, async () => {
    const client = await (await serve({})).connect('alice');
    const { peer } = client;
    assert.match(peer.sessionId, /^sw1\./);
    assert.ok(Math.abs(peer.timeout - 30 * 24 * 3600) < 5);
    assert.ok(told(await client.call('mint')).handle);
    await client.client.ping();
    const results = peer.seen.filter(({ result }) => result);
    assert.equal(results.length, 3);
    for (const { result } of results) assert.equal(result.sessionId, peer.sessionId);
    assert.equal(told(await client.call('notify', {})), 'notified');
    // The client's reader refuses the member before any shim sees it.
    await sleep(50);
    const [line] = peer.wire.join('').match(/\{.*notifications\/tools\/list_changed.*\}/);
    assert.equal(JSON.parse(line).sessionId, peer.sessionId);
  });

  test(`${transport}: a peer that sends none gets none`, async () => {
    const life = transport === 'http' ? { required: false } : {};
    const client = await (await serve({ life })).connect('alice');
    const { peer } = client;
    assert.ok((await sent(client, undefined)).result);
    assert.equal(peer.seen.at(-1).result.sessionId, undefined);
  });

  test(`${transport}: all else is refused, and the client cannot tell why`, async () => {
    const server = await serve({});
    const alice = await server.connect('alice');
    // Its handshake has two seconds at least.
    const late = (await (await serve({ life: { ttl: 3 } })).connect('alice')).peer.sessionId;
    const retired = await (await serve({ keys: Key.generate().toText() })).connect('alice');
    const mallory = await server.connect('mallory');
    await sleep(3100);
    const good = alice.peer.sessionId;
    const at = good.length - 2;
    const client = transport === 'http' ? { client: 'app' } : {};
    const view = new Codec({ keys, audience }).view({
      issuer: ISSUER,
      subject: 'alice',
      ...client,
    });
    for (const [code, sessionId] of [
      ['principal_mismatch', mallory.peer.sessionId],
      ['expired', late],
      ['unauthentic', `${good.slice(0, at)}${good[at] === 'a' ? 'b' : 'a'}${good.at(-1)}`],
      ['unknown_key', retired.peer.sessionId],
      ['malformed', 'x'],
      ['malformed', ''],
      ['malformed', 7],
      ['too_large', 'sw1.'.padEnd(1_500_000, 'A')],
      ['wrong_purpose', view.cursor('tools/list').seal(new Uint8Array())],
    ]) {
      const bring = () => sent(alice, sessionId);
      const { result, events } = await during(server.events, bring);
      const echoed = typeof sessionId === 'string' ? sessionId : undefined;
      assert.deepEqual(result, refusal(echoed), code);
      const event = events.find(({ code }) => code);
      assert.deepEqual([event?.code, event?.kind], [code, 'session']);
      if (sessionId?.length > 32) assert.ok(!JSON.stringify(events).includes(sessionId));
    }
    assert.ok((await sent(alice, good)).result);
  });

  test(`${transport}: after session/terminate it is refused`, async () => {
    const server = await serve({ accept: 'single' });
    const client = await server.connect('alice');
    const { sessionId } = client.peer;
    const schema = { '~standard': { version: 1, vendor: 't', validate: (value) => ({ value }) } };
    await client.client.request({ method: 'session/terminate' }, schema);
    const { result, events } = await during(server.events, () => client.call('mint'));
    assert.deepEqual(result, refusal(sessionId));
    assert.equal(events.find(({ code }) => code).code, 'not_accepted');
  });

  test(`${transport}: what is too large does not begin`, async () => {
    const server = await serve({ payloadLimit: 20 });
    await assert.rejects(server.connect('alice'));
    for (let waits = 0; waits < 100 && !server.events.length; waits += 1) await sleep(10);
    assert.equal(server.events.find(({ code }) => code).code, 'too_large');
  });
}

test('a failing accept is our trouble, and the session may be good', async () => {
  const { sessionId } = (await (await ways.http({})).connect('alice')).peer;
  for (const accept of ['throws', 'slow']) {
    const { url } = await ways.http({ accept });
    const { text } = await post(url, { sent: sessionId });
    assert.deepEqual(JSON.parse(text), { ...internal, id: 5 });
    // Over stdio nothing asks before the first request.
    const client = await (await ways.stdio({ accept })).connect('alice');
    assert.deepEqual(await client.call('mint'), internal);
  }
});

test('http: a session that another principal sends is over for both', async () => {
  const server = await ways.http({ accept: 'single' });
  const [alice, mallory] = [await server.connect('alice'), await server.connect('mallory')];
  assert.ok((await alice.call('mint')).result);
  // A refreshed credential of the same principal goes on.
  const again = await server.connect('alice', {
    seen: [],
    wire: [],
    sessionId: alice.peer.sessionId,
  });
  assert.ok((await again.call('mint')).result);
  const { sessionId } = alice.peer;
  assert.deepEqual(await sent(mallory, sessionId), refusal(sessionId));
  assert.deepEqual(await alice.call('mint'), refusal(sessionId));
  assert.ok((await mallory.call('mint')).result);
});

test('http: the header serves as well, and must be that of the body', async () => {
  const server = await ways.http({});
  const { peer } = await server.connect('alice');
  const other = (await server.connect('alice')).peer.sessionId;
  const ask = (header, sent, method) => post(server.url, { header, sent, method });
  const { sessionId } = peer;
  assert.equal((await ask(sessionId)).status, 200);
  assert.ok(!(await ask(sessionId)).text.includes('sessionId'));
  assert.ok((await ask(sessionId, sessionId)).text.includes(sessionId));
  assert.equal((await ask(other, sessionId)).status, 400);
  assert.equal((await ask(undefined, undefined)).status, 400);
  assert.equal((await ask(undefined, undefined, 'GET')).status, 400);
  assert.equal((await ask(sessionId, undefined, 'GET')).status, 405);
  assert.equal((await ask('x', undefined, 'GET')).status, 404);
  assert.equal((await ask('x')).status, 404);
  // With the request's own id.
  assert.deepEqual(JSON.parse((await ask(undefined, 'x')).text), { ...refusal('x'), id: 5 });
});

test('stdio: a session outlives the process', async () => {
  const server = await ways.stdio({});
  const first = await server.connect('alice');
  const { sessionId } = first.peer;
  const { requestState } = (await first.call('ask', { id: 7 }, {})).result;
  assert.equal(requestState, undefined); // in this revision the server asks by itself
  await first.client.close();

  // Another process: no initialize, but plain messages.
  const TEST_CONFIG = JSON.stringify({ keys, user: 'alice', sep1359: {} });
  const transport = new StdioClientTransport({
    ...{ command: process.execPath, args: [SERVER], stderr: 'ignore' },
    env: { ...compiled, TEST_CONFIG },
  });
  closing.push(transport);
  // The SDK's reader refuses the member, so the lines are read as they are.
  const seen = [];
  await transport.start();
  transport._process.stdout.removeAllListeners('data');
  createInterface(transport._process.stdout).on('line', (line) => seen.push(JSON.parse(line)));
  const params = { name: 'mint', arguments: {} };
  const request = { jsonrpc: '2.0', method: 'tools/call', params, sessionId };
  await transport.send({ ...request, id: 1 });
  await transport.send({ ...request, id: 2 });
  await transport.send({ ...request, id: 3, sessionId: 'x' });
  for (let waits = 0; waits < 300 && seen.length < 3; waits += 1) await sleep(10);
  await sleep(50);
  const byId = new Map(seen.map((message) => [message.id, message]));
  assert.deepEqual([...byId.keys()].sort(), [1, 2, 3]);
  assert.equal(seen.length, 3);
  for (const id of [1, 2]) {
    assert.equal(byId.get(id).result.sessionId, sessionId);
    assert.ok(told(byId.get(id)).handle);
  }
  assert.equal(byId.get(3).error.code, -32003);
});
