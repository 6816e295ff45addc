// What a guard does beside opening and sealing: whom it asks, what it tells, how it fails.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { afterEach, test } from 'node:test';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  InMemoryTransport,
  inputRequired,
  McpServer,
  Server,
} from '@modelcontextprotocol/server';
import { answer, Codec, Key } from 'sealwax';
import { anonymous, Guard, HandleRefused, principalFromAuthInfo } from 'sealwax/mcp';
import { connected, LEGACY, listen, told, transports } from './client.mjs';
import { ISSUER } from './server.mjs';
import { factoryOf, guardOf, modern, overHttp } from './wire.mjs';

const keys = Key.generate().toText();
const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
const closing = [];
afterEach(() => Promise.all(closing.splice(0).map((server) => server.close())));

async function serve(config = {}, transport = 'http') {
  const server = await transports[transport]({ keys, ...config });
  closing.push(server);
  return server;
}

const refused = { jsonrpc: '2.0', error: answer('request-state').error };
const internal = { jsonrpc: '2.0', error: answer('request-state', { error: null }).error };

/** A state of `ask`, and the retry with it. */
async function asked(client, name = 'ask', args = { id: 7 }) {
  const { result } = await client.call(name, args);
  const { requestState } = result;
  return { requestState, retry: (args) => client.call(name, args, { requestState }) };
}

// ---- what is bound ----

test('the arguments are bound as they came, whatever a schema makes of them', async () => {
  const alice = await (await serve()).connect('alice');
  // The handler sees { id: 7, why: 'because' } each time.
  const { retry } = await asked(alice, 'ask', { id: '7' });
  assert.deepEqual(await retry({ id: 7 }), refused);
  assert.deepEqual(await retry({ id: '7', why: 'because' }), refused);
  assert.equal(told(await retry({ id: '7' })).asked, 7);
});

test('a text that is no JSON comes back to the letter', async () => {
  const alice = await (await serve()).connect('alice');
  const { requestState, retry } = await asked(alice, 'raw', {});
  assert.match(requestState, /^sw1\./);
  assert.equal(told(await retry({})), 'not JSON');
});

// ---- who asks ----

test('a function that fails, or tells nobody, refuses', async () => {
  const failing = [
    () => undefined,
    () => null,
    async () => undefined,
    () => ({}),
    () => ({ subject: '' }),
    () => ({ sub: 'alice' }),
    () => 'alice',
    // What refuses a token elsewhere is no refusal of this one.
    () => codec.view(anonymous).cursor('x').open('sw1.x'),
    () => {
      throw new Error(`of ${'a secret'}`);
    },
    async () => Promise.reject(new Error('of a secret')),
    ...[
      'a text of a secret',
      new Error('of a secret'),
      null,
      undefined,
      {
        get message() {
          throw 'of a secret';
        },
      },
    ].flatMap((thrown) => [
      () => {
        throw thrown;
      },
      async () => Promise.reject(thrown),
      () => ({
        get subject() {
          throw thrown;
        },
      }),
    ]),
    () => ({ subject: 'Jos\ud800' }),
    () => ({ client: '\udfff', subject: 'Jos' }),
  ];
  for (const principal of failing) {
    const server = await serve({ principal });
    const client = await server.connect('alice');
    const nobody = failing.indexOf(principal) < 3;
    const unauthenticated = {
      jsonrpc: '2.0',
      error: { code: -32602, message: 'Authentication required' },
    };
    assert.deepEqual(await client.call('ask', { id: 7 }), nobody ? unauthenticated : internal);
    const [{ line }, event] = server.events;
    assert.equal(event.code, nobody ? 'unauthenticated' : 'invalid_argument');
    assert.equal(event.method, 'tools/call');
    assert.equal(event.target, 'ask');
    assert.ok(!`${line}${event.message}`.includes('secret'), 'what another threw is logged');
  }
});

test('a text is no principal: a user may be called anonymous', async () => {
  for (const principal of [() => 'anonymous', async () => 'anonymous', () => 'alice']) {
    const server = await serve({ principal });
    const client = await server.connect('alice');
    assert.deepEqual(await client.call('ask', { id: 7 }), internal);
    const { message } = server.events.find(({ code }) => code === 'invalid_argument');
    assert.match(message, /^principal: expected .* or the constant anonymous, found string$/);
  }
  const server = await serve({ principal: () => anonymous });
  const { retry } = await asked(await server.connect('alice'));
  assert.equal(told(await retry({ id: 7 })).asked, 7);
});

test('one JWT is one principal, by the claims or by AuthInfo', async () => {
  const context = (clientId, extra) => ({
    http: { authInfo: { token: 't', clientId, scopes: [], extra } },
  });
  const alice = { issuer: ISSUER, client: 'app', subject: 'alice' };
  const claims = { iss: ISSUER, sub: 'alice', azp: 'app' };
  assert.deepEqual(principalFromAuthInfo(context('app', claims)), alice);
  assert.deepEqual(principalFromAuthInfo(context('app', { claims })), alice);
  assert.equal(principalFromAuthInfo(context('', claims)).client, undefined);
  const nobody = [context('app'), context('app', { iss: ISSUER }), context('app', { claims: 7 })];
  // A missing login is the client's, and not a mistake of the server.
  for (const without of [{}, { http: {} }]) assert.equal(principalFromAuthInfo(without), undefined);
  for (const of of [
    ...nobody,
    context('app', { sub: 'alice' }),
    context('app', { iss: '', sub: 'a' }),
  ]) {
    assert.throws(() => principalFromAuthInfo(of), { code: 'invalid_argument' });
  }
});

// ---- a ledger ----

test('a failing ledger is our trouble, however it fails', async () => {
  const { requestState } = await asked(await (await serve()).connect('alice'));
  for (const fails of ['throws', 'rejects', 'slow', 'vague']) {
    const server = await serve({ fails });
    const client = await server.connect('alice');
    assert.deepEqual(await client.call('ask', { id: 7 }, { requestState }), internal, fails);
    const codes = server.events.filter(({ code }) => code).map(({ code }) => code);
    assert.deepEqual(new Set(codes), new Set(['ledger_unavailable']));
  }
});

// ---- telling ----

test('a broken hook changes nothing', async () => {
  for (const config of [{ hookThrows: true }, { hookRejects: true }]) {
    const alice = await (await serve(config)).connect('alice');
    assert.deepEqual(await alice.call('ask', { id: 7 }, { requestState: 'x' }), refused);
    const { retry } = await asked(alice);
    assert.equal(told(await retry({ id: 7 })).asked, 7);
  }
});

// ---- a session of an earlier revision, over HTTP ----

test('stateful HTTP: the server asks by itself, and cursors are sealed', async () => {
  const guard = new Guard({ codec, principal: 'anonymous', logger: { warn() {} } });
  const server = guard.protect(new McpServer({ name: 'old', version: '1' }));
  const seen = [];
  server.registerTool('x', {}, (ctx) => {
    const state = guard.opened(ctx);
    if (state) return { content: [{ type: 'text', text: JSON.stringify(state) }] };
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const confirm = inputRequired.elicit({ message: 'ok?', requestedSchema });
    const requestState = guard.state(ctx, { asked: 7 });
    return inputRequired({ inputRequests: { confirm }, requestState });
  });
  server.server.setRequestHandler('tools/list', ({ params }) => {
    seen.push(params?.cursor);
    return { tools: [], nextCursor: 'page 2' };
  });
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  const http = createServer((req, res) => transport.handleRequest(req, res));
  await new Promise((listening) => http.listen(0, '127.0.0.1', listening));
  closing.push({ close: () => http.closeAllConnections() ?? http.close() });

  const url = new URL(`http://127.0.0.1:${http.address().port}/mcp`);
  const { client, send, call } = await connected(new StreamableHTTPClientTransport(url), LEGACY);
  client.setRequestHandler('elicitation/create', () => ({
    action: 'accept',
    content: { ok: true },
  }));
  const answered = await client.callTool({ name: 'x', arguments: {} });
  assert.deepEqual(told({ result: answered }), { asked: 7 });
  assert.deepEqual(await call.call({ send }, 'x', {}, { requestState: 'x' }), refused);

  const { nextCursor } = (await send('tools/list', {})).result;
  assert.match(nextCursor, /^sw1\./);
  await send('tools/list', { cursor: nextCursor });
  assert.deepEqual(seen, [undefined, 'page 2']);
  const { error } = await send('tools/list', { cursor: 'page 2' });
  assert.deepEqual(error, answer('cursor').error);
  await client.close();
});

test('a state that came past the guard is refused', async () => {
  const guard = new Guard({ codec, principal: 'anonymous' });
  const { verify } = guard;
  const info = { name: 'x', version: '1' };
  const server = guard.protect(new McpServer(info, { requestState: { verify } }));
  server.registerTool('x', {}, (ctx) => ({ content: [], state: ctx.mcpReq.requestState() }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Server.prototype.connect.call(server.server, ours);
  const client = await connected(theirs, LEGACY);
  const forged = { requestState: '{"forged":true}' };
  assert.deepEqual(await client.call('x', {}, forged), refused);
  await client.client.close();
});

// ---- where there is no tool of an McpServer ----

test('a low-level server returns the fixed result of a refused handle', async () => {
  const guard = guardOf();
  const rows = guard.referenceHandles('row');
  const handler = async (_, ctx) => {
    try {
      await rows.check(ctx, 'x');
    } catch (error) {
      assert.ok(error instanceof HandleRefused);
      return error.toolResult;
    }
  };
  const request = modern(1, 'tools/call', { name: 'x', arguments: {} });
  const { messages } = await overHttp(factoryOf({ 'tools/call': handler }, guard), ...request);
  assert.deepEqual(content(messages[0]), answer('handle').toolResult);
});

test('elsewhere than in a tool a refused handle is an error', async () => {
  const guard = new Guard({ codec, principal: 'anonymous', logger: { warn() {} } });
  const rows = guard.referenceHandles('row');
  const server = guard.protect(new McpServer({ name: 'x', version: '1' }));
  server.registerPrompt('row', {}, async (ctx) => ({ messages: [await rows.check(ctx, 'x')] }));
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  const client = await connected(theirs, LEGACY);
  const { error } = await client.send('prompts/get', { name: 'row' });
  assert.deepEqual(error, { code: -32602, message: answer('handle').toolResult.content[0].text });
  await client.client.close();
});

test('a handler that changes its arguments does not change what is bound', async () => {
  const guard = new Guard({ codec, principal: 'anonymous', logger: { warn() {} } });
  const factory = () => {
    const info = { name: 'low', version: '1' };
    const server = guard.protect(new Server(info, { capabilities: { tools: {} } }));
    server.setRequestHandler('tools/call', ({ params }, ctx) => {
      params.arguments.note.id = 8;
      const state = guard.opened(ctx);
      if (state) return { content: [{ type: 'text', text: JSON.stringify(state) }] };
      return inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
    });
    return server;
  };
  const http = await listen(createMcpHandler(factory).fetch);
  closing.push(http);
  const client = await connected(new StreamableHTTPClientTransport(http.url));
  const { retry } = await asked(client, 'x', { note: { id: 7 } });
  assert.deepEqual(await retry({ note: { id: 8 } }), refused);
  assert.equal(told(await retry({ note: { id: 7 } })).asked, 7);
  await client.client.close();
});

function content({ result }) {
  const { _meta, resultType, ...rest } = result;
  return rest;
}
