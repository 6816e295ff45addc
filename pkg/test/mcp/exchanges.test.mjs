// An answer belongs to the request that it was made for, whatever ids a client chooses.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import {
  inputRequired,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { anonymous, requestContext } from 'sealwax';
import { LEGACY, MODERN } from './client.mjs';
import {
  ANYTHING,
  codec,
  door,
  factoryOf,
  guardOf,
  messagesOf,
  modern,
  overHttp,
  overStdio,
  requestOf,
  text,
} from './wire.mjs';

const view = codec.view(anonymous);
const cancelled = 'notifications/cancelled';

/** What the SDK takes for no cancellation of request 1: it goes on, and is answered. */
const bad = [
  { requestId: 1, reason: 5 },
  { requestId: 1, reason: null },
  { requestId: '1' },
  { requestId: [1] },
  { reason: 'it names none' },
];

/** Asks before a transfer, as slowly as its door; then does it. */
function transfers(guard, doors) {
  return {
    'tools/list': () => ({ tools: [] }),
    'tools/call': async ({ params }, ctx) => {
      const { to } = params.arguments;
      const asked = guard.opened(ctx)?.asked;
      await doors[to]?.pass();
      if (asked !== undefined) return text(`transferred to ${to}, as asked of ${asked}`);
      return inputRequired({ requestState: guard.state(ctx, { asked: to }) });
    },
  };
}

const transfer = (to, requestState) => ({
  ...{ name: 'transfer', arguments: { to } },
  ...(requestState && { requestState }),
});

/** For which transfer a state is good, and of which it was asked. */
function boundTo({ result }) {
  for (const to of ['alice', 'mallory']) {
    const context = requestContext('tools/call', 'transfer', { to });
    try {
      const { asked } = view.requestState(context).open(result.requestState).json();
      return { to, asked };
    } catch (error) {
      assert.equal(error.code, 'unauthentic');
    }
  }
  return undefined;
}

test('stdio: what is no cancellation frees no id, and no state is bound to another', async () => {
  for (const params of bad) {
    const guard = guardOf();
    const doors = { mallory: door(), alice: door() };
    const line = await overStdio(factoryOf(transfers(guard, doors), guard));
    line.request(1, 'tools/call', transfer('mallory'));
    await doors.mallory.came;
    line.notify(cancelled, params);
    line.request(1, 'tools/call', transfer('alice'));
    await doors.alice.came;
    doors.mallory.open();
    const first = await line.came.first(({ id }) => id === 1);
    assert.deepEqual(boundTo(first), { to: 'mallory', asked: 'mallory' }, JSON.stringify(params));
    doors.alice.open();
    const [, second] = await line.came.all(2, ({ id }) => id === 1);
    assert.deepEqual(boundTo(second), { to: 'alice', asked: 'alice' });
    // What was asked of one does nothing for the other.
    line.request(2, 'tools/call', transfer('alice', first.result.requestState));
    const { error } = await line.came.first(({ id }) => id === 2);
    assert.equal(error.code, -32602);
    await line.close();
  }
});

/** Two lists, each with a cursor of its own, and as slow as its door. */
function lists(first, second) {
  return {
    'tools/list': () => ({ tools: [] }),
    'resources/list': async () => {
      await first?.pass();
      return { resources: [], nextCursor: 'resources' };
    },
    'resources/templates/list': async () => {
      await second?.pass();
      return { resourceTemplates: [], nextCursor: 'templates' };
    },
  };
}

/** Every cursor is of the list that it came with. */
function assertOwnCursors(answers) {
  for (const { result } of answers) {
    const [method, plain] = result.resources
      ? ['resources/list', 'resources']
      : ['resources/templates/list', 'templates'];
    const { payload } = view.cursor(method).open(result.nextCursor);
    assert.equal(new TextDecoder().decode(payload), plain);
  }
}

test('stdio, 2025-11-25: no cursor is sealed for another list', async () => {
  for (const params of bad) {
    const [first, second] = [door(), door()];
    const line = await overStdio(factoryOf(lists(first, second), guardOf()), { era: LEGACY });
    line.request(1, 'resources/list');
    await first.came;
    line.notify(cancelled, params);
    line.request(1, 'resources/templates/list');
    await second.came;
    first.open();
    assertOwnCursors(await line.came.all(1, ({ id }) => id === 1));
    second.open();
    assertOwnCursors(await line.came.all(2, ({ id }) => id === 1));
    await line.close();
  }
});

const [listing, listingTemplates] = ['resources/list', 'resources/templates/list'].map(
  (method) => ({ jsonrpc: '2.0', id: 1, method, params: {} }),
);
const batches = bad.map((params) => [
  listing,
  { jsonrpc: '2.0', method: cancelled, params },
  listingTemplates,
]);

test('HTTP, a batch of 2025-11-25: no cursor is sealed for another list', async () => {
  for (const batch of batches) {
    const { messages } = await overHttp(factoryOf(lists(), guardOf()), batch);
    assert.ok(messages.length > 0);
    assertOwnCursors(messages);
  }
});

/** A server of an earlier revision that keeps its sessions, and a way to post to it. */
async function stateful(factory, settings = {}) {
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    ...settings,
  });
  const server = factory();
  await server.connect(transport);
  const headers = { 'mcp-protocol-version': LEGACY };
  const post = async (body) => {
    const response = await transport.handleRequest(requestOf(body, headers));
    return { response, messages: async () => messagesOf(await response.text()) };
  };
  const clientInfo = { name: 'wire', version: '1' };
  const capabilities = {};
  const params = { protocolVersion: LEGACY, capabilities, clientInfo };
  const begun = await post({ jsonrpc: '2.0', id: 'first', method: 'initialize', params });
  headers['mcp-session-id'] = begun.response.headers.get('mcp-session-id');
  await begun.messages();
  return { server, post };
}

test('HTTP with sessions of the SDK: no cursor is sealed for another list', async () => {
  for (const enableJsonResponse of [true, false]) {
    for (const batch of batches) {
      const { server, post } = await stateful(factoryOf(lists(), guardOf()), {
        enableJsonResponse,
      });
      const messages = await (await post(batch)).messages();
      assert.ok(messages.length > 0);
      assertOwnCursors(messages);
      await server.close();
    }
  }
});

test('two requests of one id are both served, each by its own answer', async () => {
  for (const era of [MODERN, LEGACY]) {
    const slow = door();
    const line = await overStdio(factoryOf(lists(slow), guardOf()), { era });
    line.request(1, 'resources/list');
    await slow.came;
    line.request(1, 'resources/templates/list');
    const [{ result }] = await line.came.all(1, ({ id }) => id === 1);
    assert.deepEqual(result.resourceTemplates, []);
    slow.open();
    assertOwnCursors(await line.came.all(2, ({ id }) => id === 1));
    await line.close();
  }
});

test('a cancelled request is never answered, and its id is free for another', async () => {
  for (const reason of [undefined, 'no more']) {
    const guard = guardOf();
    const doors = { mallory: door() };
    let signal;
    const handlers = transfers(guard, doors);
    const call = handlers['tools/call'];
    handlers['tools/call'] = (request, ctx) => {
      signal ??= ctx.mcpReq.signal;
      return call(request, ctx);
    };
    const line = await overStdio(factoryOf(handlers, guard));
    line.request(1, 'tools/call', transfer('mallory'));
    await doors.mallory.came;
    line.notify(cancelled, { requestId: 1, reason });
    await line.settled();
    assert.equal(signal.aborted, true);
    line.request(1, 'tools/call', transfer('alice'));
    await line.came.first(({ id }) => id === 1);
    doors.mallory.open();
    await line.settled();
    await line.settled();
    const answers = line.came.messages.filter(({ id }) => id === 1);
    assert.equal(answers.length, 1);
    assert.deepEqual(boundTo(answers[0]), { to: 'alice', asked: 'alice' });
    await line.close();
  }
});

test('of two requests of one id, a cancellation means the later, as without a guard', async () => {
  for (const guard of [guardOf(), undefined]) {
    const slow = door();
    const later = door();
    const handlers = lists(slow);
    handlers['resources/templates/list'] = async () => {
      await later.pass();
      return { resourceTemplates: [] };
    };
    const line = await overStdio(factoryOf(handlers, guard));
    line.request(1, 'resources/list');
    await slow.came;
    line.request(1, 'resources/templates/list');
    await later.came;
    line.notify(cancelled, { requestId: 1 });
    await line.settled();
    later.open();
    slow.open();
    await line.came.all(1, ({ id }) => id === 1);
    await line.settled();
    const answers = line.came.messages.filter(({ id }) => id === 1);
    assert.deepEqual(
      answers.map(({ result }) => Object.keys(result).includes('resources')),
      [true],
    );
    await line.close();
  }
});

test('of two requests of one id, the later can be cancelled once the earlier is answered', async () => {
  const [slow, later] = [door(), door()];
  const handlers = lists(slow);
  let signal;
  handlers['resources/templates/list'] = async (_, ctx) => {
    signal = ctx.mcpReq.signal;
    await later.pass();
    return { resourceTemplates: [] };
  };
  const line = await overStdio(factoryOf(handlers, guardOf()));
  line.request(1, 'resources/list');
  await slow.came;
  line.request(1, 'resources/templates/list');
  await later.came;
  slow.open();
  await line.came.first(({ id }) => id === 1);
  line.notify(cancelled, { requestId: 1 });
  await line.settled();
  assert.equal(signal.aborted, true);
  later.open();
  await line.settled();
  assert.equal(line.came.messages.filter(({ id }) => id === 1).length, 1);
  await line.close();
});

test("a handler sees the client's id, and no other", async () => {
  const seen = [];
  const factory = () => {
    const handlers = {
      'tools/list': (_, ctx) => {
        seen.push(ctx.mcpReq.id);
        return { tools: [] };
      },
    };
    const server = factoryOf(handlers, guardOf())();
    server.fallbackRequestHandler = async (request, ctx) => {
      seen.push(request.id, ctx.mcpReq.id);
      return {};
    };
    return server;
  };
  for (const [id, era] of [0, 7, '', 'x', 'sealwax-1'].flatMap((id) => [
    [id, MODERN],
    [id, LEGACY],
  ])) {
    const line = await overStdio(factory, { era });
    line.request(id, 'tools/list');
    assert.ok((await line.came.first((message) => message.id === id)).result);
    line.request(id, 'acme/own', { some: 'thing' });
    await line.came.all(2, (message) => message.id === id);
    assert.deepEqual(seen.splice(0), [id, id, id]);
    await line.close();
  }
});

test("what a handler sends meanwhile goes by its request's stream", async () => {
  const handlers = {
    'tools/call': async ({ params }, ctx) => {
      const { progressToken } = params._meta;
      const progress = (progress) => ({
        ...{ method: 'notifications/progress', params: { progressToken, progress } },
      });
      await ctx.mcpReq.notify(progress(1));
      await servers.at(-1).notification(progress(2), { relatedRequestId: ctx.mcpReq.id });
      return text('done');
    },
  };
  const servers = [];
  const factory = () => {
    servers.push(factoryOf(handlers, guardOf())());
    return servers.at(-1);
  };
  const params = { name: 'x', arguments: {}, _meta: { progressToken: 1 } };
  const { post } = await stateful(factory);
  const posted = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  for (const messages of [
    await posted.messages(),
    (await overHttp(factory, ...modern(1, 'tools/call', params))).messages,
  ]) {
    assert.deepEqual(
      messages.map(({ id, params }) => id ?? params.progress),
      [1, 2, 1],
    );
    assert.equal(messages[0].params.progressToken, 1);
  }
});

test('a fallback handler that is set while a request waits sees the id of the client too', async () => {
  const asked = door();
  const seen = [];
  let server;
  const factory = () => {
    const guard = guardOf({ principal: () => asked.pass().then(() => anonymous) });
    server = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard)();
    server.fallbackRequestHandler = () => assert.fail('another was set');
    return server;
  };
  const line = await overStdio(factory);
  line.request(7, 'prompts/get', { name: 'x' });
  await asked.came;
  server.fallbackRequestHandler = async (request, ctx) => {
    seen.push(request.id, ctx.mcpReq.id);
    return { messages: [] };
  };
  asked.open();
  await line.came.first(({ id }) => id === 7);
  assert.deepEqual(seen, [7, 7]);
  await line.close();
});

test("the methods of sessions are the guard's, unless the author sets one afterwards", async () => {
  for (const when of ['never', 'before', 'after']) {
    const guard = guardOf();
    guard.sessions({ initial: () => 0 });
    const factory = () => {
      const server = factoryOf({ 'tools/list': () => ({ tools: [] }) }, undefined)();
      const own = () => ({ mine: true });
      if (when === 'before') server.setRequestHandler('sessions/create', { params: ANYTHING }, own);
      guard.protect(server);
      if (when === 'after') server.setRequestHandler('sessions/create', { params: ANYTHING }, own);
      return server;
    };
    const line = await overStdio(factory);
    line.request(1, 'sessions/create');
    const { result } = await line.came.first(({ id }) => id === 1);
    assert.equal(result.mine === true, when === 'after', when);
    await line.close();
  }
});
