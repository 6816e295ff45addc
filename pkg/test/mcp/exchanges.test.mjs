// An answer belongs to the request that it was made for, whatever ids a client chooses; and it is as without a guard.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inputRequired } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { ANYTHING, LEGACY, MODERN } from './client.mjs';
import {
  called,
  codec,
  door,
  factoryOf,
  guardOf,
  modern,
  overHttp,
  overStdio,
  text,
} from './wire.mjs';

/** What a cursor of a list was before it was sealed. */
function opened(method, { result }) {
  const { payload } = codec.view(anonymous).cursor(method).open(result.nextCursor);
  return new TextDecoder().decode(payload);
}

test('of two requests of one id the later is refused, and logged', async () => {
  const [LIST, OTHER] = ['resources/list', 'resources/templates/list'];
  for (const era of [MODERN, LEGACY]) {
    const slow = door();
    const lists = {
      [LIST]: () => slow.pass().then(() => ({ resources: [], nextCursor: 'resources' })),
      [OTHER]: () => ({ resourceTemplates: [], nextCursor: 'templates' }),
    };
    const told = [];
    const guard = guardOf({ onRefused: ({ code, message }) => told.push([code, message]) });
    const line = await overStdio(factoryOf(lists, guard), { era });
    line.request(1, LIST);
    await slow.came;
    // What the SDK takes for no cancellation frees no id.
    const none = [{ requestId: 1, reason: 5 }, { requestId: '1' }, { reason: 'none' }];
    for (const params of [{ requestId: 1, reason: null }, ...none])
      line.notify('notifications/cancelled', params);
    line.request(1, OTHER);
    const [{ error }] = await line.came.all(1, ({ id }) => id === 1);
    assert.deepEqual(error, { code: -32600, message: 'Invalid Request' });
    // Another type is another id.
    line.request('1', OTHER);
    assert.equal(opened(OTHER, await line.came.first(({ id }) => id === '1')), 'templates');
    slow.open();
    const [, first] = await line.came.all(2, ({ id }) => id === 1);
    assert.equal(opened(LIST, first), 'resources');
    assert.deepEqual(told, [['malformed', 'expected an id that no request in progress has']]);
    await line.close();
  }
});

test('a reference that a client chose names nothing', async () => {
  const guard = guardOf();
  const asks = (_, ctx) => inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
  const _meta = { 'io.github.sealwax/exchange': 'x'.repeat(32) };
  const { result } = await called(factoryOf({ 'tools/call': asks }, guard), { _meta });
  assert.match(result.requestState, /^sw1\./);
});

test('a subscription keeps the name that its client gave it', async () => {
  const line = await overStdio(factoryOf({}, guardOf()));
  line.request('mine', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  const told = await line.came.first(({ method }) => method !== undefined);
  assert.equal(told.params._meta['io.modelcontextprotocol/subscriptionId'], 'mine');
  await line.close();
});

test("the methods of sessions are the guard's, whenever a server has its own", async () => {
  for (const when of ['before', 'after']) {
    const guard = guardOf();
    guard.sessions({ initial: () => 0 });
    const factory = () => {
      const server = factoryOf({})();
      const own = () =>
        server.setRequestHandler('sessions/create', { params: ANYTHING }, () => ({}));
      if (when === 'before') own();
      guard.protect(server);
      if (when === 'after') own();
      return server;
    };
    const { messages } = await overHttp(factory, ...modern(1, 'sessions/create'));
    assert.ok(messages[0].result.session, when);
  }
});

// The SDK finds a status for an error only while it delivers, so nothing may come late that can be decided at once.
test('answers and their statuses are as without a guard, whenever the principal is told', async () => {
  const handlers = {
    'tools/list': () => ({ tools: [] }),
    'tools/call': ({ params }) => {
      if (params.name === 'throws') throw Object.assign(new Error('thrown'), { code: -32601 });
      const a = { method: 'sampling/createMessage', params: {} };
      return params.name === 'asks' ? inputRequired({ inputRequests: { a } }) : text('done');
    },
  };
  const called = (name) => modern(1, 'tools/call', { name, arguments: {} });
  const [call, headers] = called('x');
  const requests = [
    [404, ...modern(1, 'acme/unknown')],
    [404, ...modern(1, 'acme/unknown', { requestState: 'x' })],
    [404, ...modern(1, 'ping')], // of an earlier revision
    [400, call, { ...headers, 'mcp-protocol-version': '2099-01-01' }],
    [400, call, { ...headers, 'mcp-method': 'tools/list' }],
    [400, call, { ...headers, 'mcp-name': 'y' }],
    [400, ...called('asks')], // without the capability
    [200, ...called('throws')],
    ...[['x'], {}, 7, null, true].map((name) => [200, ...called(name)]),
    [200, call, headers],
    [200, ...modern(1, 'tools/list')],
  ];
  for (const principal of [() => anonymous, async () => anonymous]) {
    for (const [status, ...request] of requests) {
      const guarded = await overHttp(factoryOf(handlers, guardOf({ principal })), ...request);
      assert.deepEqual(guarded, await overHttp(factoryOf(handlers), ...request));
      assert.equal(guarded.status, status, JSON.stringify(request));
    }
  }
});
