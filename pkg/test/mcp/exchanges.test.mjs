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
    const doors = { mallory: door() };
    const line = await overStdio(factoryOf(transfers(guard, doors), guard));
    line.request(1, 'tools/call', transfer('mallory'));
    await doors.mallory.came;
    line.notify(cancelled, params);
    line.request(1, 'tools/call', transfer('alice'));
    const { error } = await line.came.first(({ id }) => id === 1);
    assert.equal(error.code, -32600, JSON.stringify(params));
    doors.mallory.open();
    const [, first] = await line.came.all(2, ({ id }) => id === 1);
    assert.deepEqual(boundTo(first), { to: 'mallory', asked: 'mallory' });
    // What was asked of one does nothing for the other.
    line.request(2, 'tools/call', transfer('alice', first.result.requestState));
    const refused = await line.came.first(({ id }) => id === 2);
    assert.equal(refused.error.code, -32602);
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

/** Every cursor is of the list that it came with; a request whose id is in use has none. */
function assertOwnCursors(answers) {
  for (const { result, error } of answers) {
    if (error) {
      assert.equal(error.code, -32600);
      continue;
    }
    const [method, plain] = result.resources
      ? ['resources/list', 'resources']
      : ['resources/templates/list', 'templates'];
    const { payload } = view.cursor(method).open(result.nextCursor);
    assert.equal(new TextDecoder().decode(payload), plain);
  }
}

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

test('of two requests of one id the later is refused, and logged', async () => {
  for (const era of [MODERN, LEGACY]) {
    const slow = door();
    const told = [];
    const guard = guardOf({ onRefused: ({ code, message }) => told.push([code, message]) });
    const line = await overStdio(factoryOf(lists(slow), guard), { era });
    line.request(1, 'resources/list');
    await slow.came;
    line.request(1, 'resources/templates/list');
    const [{ error }] = await line.came.all(1, ({ id }) => id === 1);
    assert.deepEqual(error, { code: -32600, message: 'Invalid Request' });
    // Another type is another id.
    line.request('1', 'resources/templates/list');
    assertOwnCursors([await line.came.first(({ id }) => id === '1')]);
    slow.open();
    const [, first] = await line.came.all(2, ({ id }) => id === 1);
    assertOwnCursors([first]);
    assert.ok(first.result.resources);
    // It is free again.
    line.request(1, 'resources/templates/list');
    assertOwnCursors(await line.came.all(3, ({ id }) => id === 1));
    assert.deepEqual(told, [['malformed', 'expected an id that no request in progress has']]);
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

test('a reference that a client chose names nothing', async () => {
  const guard = guardOf();
  const handlers = {
    'tools/list': () => ({ tools: [] }),
    'tools/call': (_, ctx) => inputRequired({ requestState: guard.state(ctx, { asked: 7 }) }),
  };
  const line = await overStdio(factoryOf(handlers, guard));
  const _meta = { 'io.github.sealwax/exchange': 'x'.repeat(32) };
  line.request(1, 'tools/call', { name: 'x', arguments: {}, _meta });
  const { result } = await line.came.first(({ id }) => id === 1);
  assert.match(result.requestState, /^sw1\./);
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

test("the methods of sessions are the guard's", async () => {
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
    assert.equal(result.mine, undefined, when);
    assert.ok(result.session, when);
    await line.close();
  }
});
