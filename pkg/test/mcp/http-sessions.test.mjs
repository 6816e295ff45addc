// `Mcp-Session-Id` without a store: the official client of earlier revisions, and plain requests.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { answer, Codec, Key } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { bearer, during, LEGACY, MODERN, sleep, told, transports } from './client.mjs';
import { ISSUER } from './server.mjs';

const keys = Key.generate().toText();
const audience = 'https://mcp.example.com';
const alice = { issuer: ISSUER, subject: 'alice', client: 'app' };
const closing = [];
afterEach(() => Promise.all(closing.splice(0).map((server) => server.close())));

async function serve(config = {}) {
  const server = await transports.http({ keys, fetch: {}, ...config });
  closing.push(server);
  return server;
}

/** A request as it is on the wire, and all that a client sees of the answer. */
async function raw(server, { user = 'alice', method = 'POST', session, version, message } = {}) {
  const body = message ?? { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };
  const response = await fetch(server.url, {
    method,
    headers: {
      authorization: await bearer(user),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...(version && { 'mcp-protocol-version': version }),
    },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
}

const initialize = (clientInfo = { name: 'raw', version: '1' }) => ({
  ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
  params: { protocolVersion: LEGACY, capabilities: { roots: {} }, clientInfo },
});

async function begun(server, user) {
  const { headers } = await raw(server, { user, message: initialize() });
  return headers.get('mcp-session-id');
}

test('the official client keeps the session, and handlers find what was negotiated', async () => {
  const server = await serve();
  const client = await server.connect('alice', LEGACY);
  const { sessionId } = client.client.transport;
  assert.match(sessionId, /^sw1\./);
  const negotiated = told(await client.call('negotiated', {}));
  assert.deepEqual(Object.keys(negotiated).sort(), [
    ...['clientCapabilities', 'clientInfo', 'protocolVersion', 'serverCapabilities'],
  ]);
  assert.equal(negotiated.protocolVersion, LEGACY);
  assert.deepEqual(negotiated.clientInfo, { name: 'test', version: '1.0.0' });
  assert.deepEqual(negotiated.clientCapabilities, { elicitation: { form: {} } });
  assert.deepEqual(negotiated.serverCapabilities, client.client.getServerCapabilities());
  assert.ok(!JSON.stringify(server.events).includes(sessionId));
});

test('a session goes on at another replica', async () => {
  const [one, two] = [await serve(), await serve()];
  const session = await begun(one);
  assert.equal((await raw(two, { session, version: LEGACY })).status, 200);
});

test('who asks is asked once', async () => {
  let times = 0;
  const principal = () => {
    times += 1;
    return alice;
  };
  const server = await serve({ principal });
  const session = await begun(server);
  times = 0;
  const params = { name: 'ask', arguments: { id: 7 } };
  await raw(server, { session, message: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } });
  assert.equal(times, 1);
});

test('revision 2026-07-28 passes as it is', async () => {
  const client = await (await serve()).connect('alice', MODERN);
  assert.equal(client.client.transport.sessionId, undefined);
  assert.equal(told(await client.call('negotiated', {})), null);
});

test('all else is refused, and the client cannot tell why', async () => {
  const server = await serve({ accept: 'single' });
  const session = await begun(server);
  const view = (keys) => new Codec({ keys, audience }).view(alice);
  const late = await begun(await serve({ fetch: { ttl: 1 } }));
  const retired = await begun(await serve({ keys: Key.generate().toText() }));
  await sleep(2100);
  const at = session.length - 2;
  const altered = `${session.slice(0, at)}${session[at] === 'a' ? 'b' : 'a'}${session.at(-1)}`;
  const answers = new Set();
  for (const [code, session, user] of [
    ['principal_mismatch', await begun(server), 'mallory'],
    ['expired', late],
    ['unauthentic', altered],
    ['unknown_key', retired],
    ['malformed', 'x'],
    ['malformed', ''],
    ['too_large', 'sw1.'.padEnd(9000, 'A')],
    ['wrong_purpose', view(keys).cursor('tools/list').seal(new Uint8Array())],
    ['malformed', view(keys).session().sealJson('no session of ours')],
  ]) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const bring = () => raw(server, { session, user, method });
      const { result, events } = await during(server.events, bring);
      assert.equal(events.find(({ code }) => code)?.code, code, session);
      const { status, text, headers } = result;
      answers.add(JSON.stringify([status, text, headers.get('content-type')]));
    }
  }
  assert.deepEqual([...answers], [JSON.stringify([answer('mcp-session-id').httpStatus, '', null])]);
  assert.equal((await raw(server, { session })).status, 200);
});

test('without it: 400, unless the author lets it be', async () => {
  for (const method of ['POST', 'GET', 'DELETE']) {
    assert.equal((await raw(await serve({ accept: 'single' }), { method })).status, 400);
  }
  const lenient = await serve({ accept: 'single', fetch: { required: false } });
  assert.equal((await raw(lenient)).status, 200);
  assert.equal((await raw(lenient, { session: 'x' })).status, 404);
  assert.equal((await raw(lenient, { method: 'DELETE' })).status, 400);
});

test('the version is the negotiated one', async () => {
  const server = await serve();
  const session = await begun(server);
  assert.equal((await raw(server, { session, version: LEGACY })).status, 200);
  assert.equal((await raw(server, { session, version: '2025-06-18' })).status, 400);
});

test('nothing streams outside of an answer', async () => {
  const server = await serve();
  const session = await begun(server);
  assert.equal((await raw(server, { session, method: 'GET' })).status, 405);
});

test('after its end it is refused', async () => {
  const server = await serve({ accept: 'single' });
  const client = await server.connect('alice', LEGACY);
  const { transport } = client.client;
  const session = transport.sessionId;
  assert.equal((await raw(server, { session })).status, 200);
  await transport.terminateSession();
  const { result, events } = await during(server.events, () => raw(server, { session }));
  assert.deepEqual([result.status, result.text], [404, '']);
  assert.equal(events.find(({ code }) => code).code, 'not_accepted');
  const other = await begun(server);
  assert.equal((await raw(server, { session: other, method: 'DELETE' })).status, 204);
  assert.equal((await raw(server, { session: other, method: 'DELETE' })).status, 404);
});

test("the server's own trouble is a 500", async () => {
  const session = await begun(await serve());
  for (const accept of ['throws', 'slow', 'vague']) {
    const server = await serve({ accept });
    assert.equal((await raw(server, { session })).status, 500);
  }
  assert.equal((await raw(await serve(), { session, user: 'nobody' })).status, 500);
});

test('what a header cannot hold is a clear error', async () => {
  for (const config of [{}, { payloadLimit: 100_000 }]) {
    const server = await serve(config);
    const message = initialize({ name: 'x'.repeat(10_000), version: '1' });
    const { result, events } = await during(server.events, () => raw(server, { message }));
    assert.equal(result.status, 500);
    assert.equal(result.headers.get('mcp-session-id'), null);
    assert.deepEqual(JSON.parse(result.text), {
      ...{ jsonrpc: '2.0', id: 0 },
      ...answer('data-layer', { error: null }),
    });
    assert.equal(events.find(({ code }) => code).code, 'too_large');
  }
});

test('what cannot be initialized has no session', async () => {
  const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params: {} };
  const { headers, text } = await raw(await serve(), { message });
  assert.equal(headers.get('mcp-session-id'), null);
  assert.match(text, /"error"/);
});

test('both kinds of sessions go together', async () => {
  const server = await serve({ sessions: {} });
  const client = await server.connect('alice', LEGACY);
  const { result } = await client.send('sessions/create', {});
  const { sessionId, state } = result.session;
  const _meta = { 'io.modelcontextprotocol/session': { sessionId, state } };
  const counted = await client.send('tools/call', { name: 'count', arguments: {}, _meta });
  assert.deepEqual(told(counted).value, { count: 1 });
});

test('options of the wrapper are what they should be', () => {
  const guard = new Guard({ codec: new Codec({ keys, audience }), principal: 'anonymous' });
  const handler = async () => new Response();
  for (const given of [{ required: 1 }, { ttl: '1' }, { needed: true }]) {
    assert.throws(() => guard.fetch(handler, given), TypeError);
  }
  assert.throws(() => guard.fetch({ fetch: handler }), TypeError);
  assert.throws(() => guard.fetch(handler, { ttl: 0 }), { code: 'invalid_argument' });
});
