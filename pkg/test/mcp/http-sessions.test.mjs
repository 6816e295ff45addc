// `Mcp-Session-Id` without a store: the official client of earlier revisions.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { Codec, Key } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { bearer, LEGACY, told, transports } from './client.mjs';

const keys = Key.generate().toText();
const closing = [];
afterEach(() => Promise.all(closing.splice(0).map((server) => server.close())));

async function serve(config = {}) {
  const server = await transports.http({ keys, fetch: {}, ...config });
  closing.push(server);
  return server;
}

/** A plain request of Alice's. */
async function raw(server, session, message) {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      authorization: await bearer('alice'),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'mcp-session-id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {}, ...message }),
  });
  const { status, headers } = response;
  return { status, headers, text: await response.text() };
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

test('the official client ends it, or takes a server for one that ends none', async () => {
  for (const [memory, status] of [
    [true, 404],
    [false, 200],
  ]) {
    const server = await serve({ memory });
    const { transport } = (await server.connect('alice', LEGACY)).client;
    const session = transport.sessionId;
    await transport.terminateSession();
    assert.equal((await raw(server, session)).status, status);
  }
});

test('what cannot be initialized has no session', async () => {
  const { headers, text } = await raw(await serve(), undefined, { method: 'initialize' });
  assert.equal(headers.get('mcp-session-id'), null);
  assert.match(text, /"error"/);
});

test('options of the wrapper are what they should be', () => {
  const guard = new Guard({
    codec: new Codec({ keys, audience: 'https://mcp.example.com' }),
    principal: 'anonymous',
  });
  const handler = async () => new Response();
  for (const given of [{ required: 1 }, { ttl: '1' }, { needed: true }]) {
    assert.throws(() => guard.fetch(handler, given), TypeError);
  }
  assert.throws(() => guard.fetch({ fetch: handler }), TypeError);
  assert.throws(() => guard.fetch(handler, { ttl: 0 }), { code: 'invalid_argument' });
});
