// What a guard does beside opening and sealing: whom it asks, what it gives the SDK, how it fails.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node';
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { answer } from 'sealwax';
import { principalFromAuthInfo } from 'sealwax/mcp';
import { z } from 'zod';
import { connected, LEGACY, serving, told } from './client.mjs';
import {
  called,
  factoryOf,
  guardOf,
  inTool,
  modern,
  overHttp,
  overStdio,
  requestOf,
  telling,
  text,
} from './wire.mjs';

const refused = { jsonrpc: '2.0', error: answer('request-state').error };
const INTERNAL = { code: -32603, message: 'Internal error' };
const info = { name: 'x', version: '1' };
const ISSUER = 'https://idp.example.com';

const throws = (value) => () => {
  throw value;
};

/** An object with a getter that throws. */
const throwing = (name, value) =>
  Object.defineProperty({}, name, { enumerable: true, get: throws(value) });

// ---- what the SDK makes of it ----

test('the arguments are bound as they came, whatever a schema or a handler makes of them', async () => {
  const guard = guardOf();
  const answered = (ctx) =>
    guard.opened(ctx) ? text('asked') : inputRequired({ requestState: guard.state(ctx, { a: 7 }) });
  const rewriting = z.object({ id: z.coerce.number(), why: z.string().default('because') });
  const byMcpServer = () => {
    const server = guard.protect(new McpServer(info));
    server.registerTool('x', { inputSchema: rewriting }, (_, ctx) => answered(ctx));
    return server;
  };
  const changing = ({ params }, ctx) => {
    Object.assign(params.arguments, { id: 7, why: 'because' });
    return answered(ctx);
  };
  // Handlers see { id: 7, why: 'because' } each time.
  for (const factory of [byMcpServer, factoryOf({ 'tools/call': changing }, guard)]) {
    const { requestState } = (await called(factory, { arguments: { id: '7' } })).result;
    for (const args of [{ id: 7 }, { id: '7', why: 'because' }])
      assert.deepEqual(await called(factory, { arguments: args, requestState }), refused);
    const { result } = await called(factory, { arguments: { id: '7' }, requestState });
    assert.equal(result.content[0].text, 'asked');
  }
});

test('stateful HTTP: the server asks by itself', async (t) => {
  const guard = guardOf();
  const server = guard.protect(new McpServer(info));
  server.registerTool('x', {}, (ctx) => {
    const state = guard.opened(ctx);
    if (state) return text(JSON.stringify(state));
    const requestedSchema = { type: 'object', properties: { ok: { type: 'boolean' } } };
    const confirm = inputRequired.elicit({ message: 'ok?', requestedSchema });
    const requestState = guard.state(ctx, { asked: 7 });
    return inputRequired({ inputRequests: { confirm }, requestState });
  });
  const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
  await server.connect(transport);
  const url = await serving(t, (req, res) => transport.handleRequest(req, res));

  const { client, send, call } = await connected(new StreamableHTTPClientTransport(url), LEGACY);
  const accepted = { action: 'accept', content: { ok: true } };
  client.setRequestHandler('elicitation/create', () => accepted);
  const result = await client.callTool({ name: 'x', arguments: {} });
  assert.deepEqual(told({ result }), { asked: 7 });
  assert.deepEqual(await call.call({ send }, 'x', {}, { requestState: 'x' }), refused);
  await client.close();
});

// ---- who asks ----

test('a function that fails, or tells nobody, refuses, and what it threw reaches the hook alone', async () => {
  const error = new Error('of a secret');
  const wrong = [
    ...[{}, { subject: '' }, { sub: 'alice' }, 'alice', 'anonymous'], // a user may be called anonymous
    ...[{ subject: 'Jos\ud800' }, { client: '\udfff', subject: 'Jos' }],
  ];
  const thrown = ['a text of a secret', error, undefined, throwing('message', error)];
  const nobody = [() => undefined, () => null, async () => undefined];
  for (const [principal, cause] of [
    ...[...nobody, ...wrong.map((value) => () => value)].map((of) => [of]),
    ...thrown.flatMap((value) =>
      [throws(value), async () => throws(value)(), () => throwing('subject', value)].map((of) => [
        ...[of, value],
      ]),
    ),
  ]) {
    const { guard, events, lines, fields } = telling({ principal });
    const { error } = await called(factoryOf({ 'tools/call': () => text('ran') }, guard));
    const [code, expected] = nobody.includes(principal)
      ? ['unauthenticated', { code: -32602, message: 'Authentication required' }]
      : ['invalid_argument', INTERNAL];
    assert.deepEqual(error, expected, `${principal}`);
    const [{ message, ...event }] = events;
    assert.deepEqual([event.code, event.method, event.target], [code, 'tools/call', 'x']);
    if (cause !== undefined) assert.equal(event.cause, cause);
    assert.equal(lines.length, 1);
    assert.ok(!JSON.stringify([lines, fields, message]).includes('secret'));
  }
  for (const act of [
    async (guard) => {
      guard.sessions({ initial: throws(error) });
      const sent = modern(1, 'sessions/create');
      const { messages } = await overHttp(factoryOf({}, guard), ...sent);
      assert.deepEqual(messages[0].error, INTERNAL);
    },
    async (guard) => {
      const baskets = guard.selfContainedHandles('basket');
      const sealing = inTool(guard, (ctx) => baskets.seal(ctx, { toJSON: throws(error) }));
      await assert.rejects(sealing, { name: 'HandleRefused' });
    },
  ]) {
    const { guard, events, lines, fields } = telling();
    await act(guard);
    assert.deepEqual([events[0].cause, events.length, lines.length], [error, 1, 1]);
    assert.ok(!JSON.stringify([lines, fields]).includes('secret'));
  }
});

test('one JWT is one principal, by the claims or by AuthInfo', () => {
  const context = (clientId, extra) => ({
    http: { authInfo: { token: 't', clientId, scopes: [], extra } },
  });
  const alice = { issuer: ISSUER, client: 'app', subject: 'alice' };
  const claims = { iss: ISSUER, sub: 'alice', azp: 'app' };
  assert.deepEqual(principalFromAuthInfo(context('app', claims)), alice);
  assert.deepEqual(principalFromAuthInfo(context('app', { claims })), alice);
  assert.equal(principalFromAuthInfo(context('', claims)).client, undefined);
  // A missing login is the client's, and not a mistake of the server.
  for (const without of [{}, { http: {} }]) assert.equal(principalFromAuthInfo(without), undefined);
  for (const [extra, message] of [
    [{ iss: '', sub: 'a' }, /./],
    ...[undefined, { iss: ISSUER }, { claims: 7 }, { sub: 'a' }, { claims: { sub: 'a' } }].map(
      (extra) => [extra, /^authInfo\.extra: expected iss and sub, .* a principal function of your/],
    ),
  ]) {
    const of = context('app', extra);
    assert.throws(() => principalFromAuthInfo(of), { code: 'invalid_argument', message });
  }
});

// ---- what JSON has not ----

/** More levels than `JSON.stringify` writes. */
const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`);
test("a result that cannot be written is the server's failure", async () => {
  for (const result of [
    () => ({ ...text('x'), requestState: 'x', structuredContent: { deep } }),
    () => ({ resultType: 'input_required', requestState: deep }),
    () => Object.assign(throwing('requestState', new Error()), text('x')),
  ]) {
    const factory = factoryOf({ 'tools/call': result }, guardOf());
    assert.equal((await called(factory)).error?.code, -32603);
    const line = await overStdio(factory);
    line.request(1, 'tools/call', { name: 'x' });
    assert.equal((await line.came.first(({ id }) => id === 1)).error?.code, -32603);
    await line.close();
  }
});

test('a message of the host that cannot be read is no request, or its own failure', async () => {
  const { guard, events } = telling();
  const handler = guard.fetch(() => assert.fail('it is delivered'), { required: false });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { deep } };
  for (const [parsedBody, status, error, message] of [
    [call, 400, { code: -32600, message: 'Invalid Request' }, /at most 128 levels/],
    [throwing('method', new Error()), 500, INTERNAL, /found Error$/],
  ]) {
    const response = await handler(requestOf({}), { parsedBody });
    assert.deepEqual([response.status, (await response.json()).error], [status, error]);
    assert.match(events.at(-1).message, message);
  }
});
