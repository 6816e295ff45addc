// Messages that no client means well: of thousands of levels, or of megabytes. Each is answered, and nothing throws into
// the host.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { LEGACY } from './client.mjs';
import {
  envelope,
  factoryOf,
  guardOf,
  messagesOf,
  modern,
  overHttp,
  overStdio,
  requestOf,
  text,
} from './wire.mjs';

const INVALID = { code: -32600, message: 'Invalid Request' };
const INTERNAL = { code: -32603, message: 'Internal error' };
const arrays = (levels) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
/** More levels than `JSON.stringify` writes. */
const deep = arrays(5000);
const json = JSON.stringify;

let uncaught = [];
const hear = (error) => uncaught.push(error);
beforeEach(() => {
  uncaught = [];
  process.on('unhandledRejection', hear);
});
afterEach(async () => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  process.off('unhandledRejection', hear);
  assert.deepEqual(uncaught, []);
});

/** Writes a message with a member of so many levels, as a client can. */
function written(message, levels = 5000) {
  return json(message).replace('"DEEP"', '['.repeat(levels) + ']'.repeat(levels));
}

function posted(body, headers = {}) {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
}

const tools = {
  'tools/list': () => ({ tools: [] }),
  'tools/call': ({ params }) => text(`${params.name} ran`),
};
const initialize = (capabilities) => ({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: LEGACY, capabilities, clientInfo: { name: 'deep', version: '1' } },
});

for (const sep1359 of [false, true]) {
  test(`fetch, ${sep1359 ? 'SEP-1359' : 'a header'}: a deep message is no request`, async () => {
    const events = [];
    const guard = guardOf({ onRefused: (event) => events.push(event) });
    const handler = guard.fetch(createMcpHandler(factoryOf(tools, guard)).fetch, { sep1359 });
    const begun = await handler(requestOf(initialize({})));
    const session = begun.headers.get('mcp-session-id');
    assert.ok(session);
    const call = { jsonrpc: '2.0', id: 2, method: 'tools/call' };
    for (const [body, headers] of [
      [written(initialize({ experimental: { x: 'DEEP' } }))],
      [written({ ...call, params: { name: 'x', arguments: { x: 'DEEP' } } }), { session }],
      [written({ ...call, params: { name: 'x', arguments: { x: 'DEEP' } } }, 130), { session }],
      [written({ ...call, sessionId: 'DEEP' })],
      [written({ jsonrpc: '2.0', method: 'notifications/x', params: { x: 'DEEP' } })],
      [written({ jsonrpc: '2.0', id: 2, result: { x: 'DEEP' } }), { session }],
      [written(['DEEP']), { session }],
    ]) {
      const header = headers?.session ? { 'mcp-session-id': session } : {};
      for (const given of [{}, { parsedBody: JSON.parse(body) }]) {
        const response = await handler(posted(body, header), given);
        assert.equal(response.status, 400, body.slice(0, 90));
        const [{ error }] = messagesOf(await response.text());
        assert.deepEqual(error, INVALID);
        assert.match(events.at(-1).message, /at most 128 levels/);
      }
    }
    // As deep as nobody writes, and served.
    const body = written({ ...call, params: { name: 'x', arguments: { x: 'DEEP' } } }, 90);
    const served = await handler(posted(body, { 'mcp-session-id': session }));
    assert.equal(messagesOf(await served.text())[0].result.content[0].text, 'x ran');
  });
}

test('fetch: a handler that fails, and a message of the host with a getter that throws', async () => {
  const events = [];
  const guard = guardOf({ onRefused: (event) => events.push(event) });
  const cause = new Error("the author's");
  const failing = guard.fetch(() => Promise.reject(cause), { required: false });
  const hostile = {
    jsonrpc: '2.0',
    id: 1,
    get method() {
      throw cause;
    },
  };
  for (const parsedBody of [undefined, hostile]) {
    const response = await failing(requestOf({ jsonrpc: '2.0', id: 1, method: 'x' }), {
      parsedBody,
    });
    assert.equal(response.status, 500);
    assert.deepEqual((await response.json()).error, INTERNAL);
    assert.equal(events.at(-1).cause, cause);
  }
});

test('a protected server: a deep message is no request', async () => {
  const guard = guardOf();
  for (const method of ['tools/call', 'tools/list', 'demo/unknown']) {
    const [body, headers] = modern(1, method, { name: 'x', arguments: { x: 'DEEP' } });
    const handler = createMcpHandler(factoryOf(tools, guard)).fetch;
    const response = await handler(posted(written(body, 200), headers));
    const [{ error }] = messagesOf(await response.text());
    assert.deepEqual(error, INVALID);
  }
});

for (const [name, result] of Object.entries({
  'a deep member': () => ({ ...text('x'), requestState: 'x', structuredContent: { deep } }),
  'a deep token': () => ({ resultType: 'input_required', requestState: deep }),
  'a getter that throws': () => ({
    content: [],
    get requestState() {
      throw new Error("the author's");
    },
  }),
})) {
  test(`a result with ${name} is the server's failure`, async () => {
    const guard = guardOf();
    const handlers = { ...tools, 'tools/call': result };
    const { messages } = await overHttp(
      factoryOf(handlers, guard),
      ...modern(1, 'tools/call', { name: 'x' }),
    );
    assert.equal(messages[0].error?.code, -32603);
    const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout });
    for (const given of [{ streams }, {}]) {
      const line = await overStdio(factoryOf(handlers, guard), given);
      line.request(1, 'tools/call', { name: 'x' });
      const { error } = await line.came.first(({ id }) => id === 1);
      assert.equal(error?.code, -32603);
      await line.settled();
      await line.close();
    }
  });
}

test('stdio: a deep message is no request, and the line goes on', async () => {
  const guard = guardOf();
  let stdin;
  const streams = (input, stdout) => {
    stdin = input;
    return sessionStreams(guard, { stdin, stdout });
  };
  const line = await overStdio(factoryOf(tools, guard), { streams });
  const params = { name: 'x', arguments: { x: 'DEEP' }, _meta: envelope };
  for (const message of [
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: { capabilities: 'DEEP' } },
    { jsonrpc: '2.0', method: 'notifications/x', params },
    { jsonrpc: '2.0', id: 1, result: params },
    { jsonrpc: '2.0', id: { x: 'DEEP' }, method: 'tools/call' },
  ]) {
    line.came.messages.length = 0;
    stdin.write(`${written(message)}\n`);
    await line.settled();
    const [answer, ...others] = line.came.messages;
    assert.deepEqual([answer.id, answer.error, others.length], [null, INVALID, 1]);
  }
  await line.close();
});

test('what is larger than a token can be gets the fixed answer', async () => {
  const events = [];
  const guard = guardOf({ onRefused: (event) => events.push(event) });
  guard.sessions({ initial: () => 0 });
  const factory = factoryOf(tools, guard);
  const huge = `sw1.${'A'.repeat(3 << 20)}`;
  for (const [method, params, code] of [
    ['tools/call', { name: 'x', requestState: huge }, -32602],
    ['tools/list', { cursor: huge }, -32602],
    [
      'tools/list',
      { _meta: { 'io.modelcontextprotocol/session': { sessionId: 'x', state: huge } } },
      -32043,
    ],
  ]) {
    const { messages } = await overHttp(factory, ...modern(1, method, params));
    assert.equal(messages[0].error?.code, code, json(messages[0]).slice(0, 200));
    assert.ok(['too_large', 'malformed'].includes(events.at(-1).code), events.at(-1).code);
  }
  // Arguments may be large.
  const args = { x: 'A'.repeat(3 << 20) };
  const { messages } = await overHttp(
    factory,
    ...modern(1, 'tools/call', { name: 'x', arguments: args }),
  );
  assert.equal(messages[0].result.content[0].text, 'x ran');
});

test("a state that is too large is the server's failure, and the client is told", async () => {
  const states = [(guard, ctx) => guard.state(ctx, 'A'.repeat(3 << 20)), () => 'A'.repeat(3 << 20)];
  for (const state of states) {
    const events = [];
    const guard = guardOf({ onRefused: (event) => events.push(event) });
    const handlers = {
      ...tools,
      'tools/call': (_, ctx) => ({
        resultType: 'input_required',
        requestState: state(guard, ctx),
      }),
    };
    const { messages } = await overHttp(
      factoryOf(handlers, guard),
      ...modern(1, 'tools/call', { name: 'x' }),
    );
    assert.equal(messages[0].error?.code, -32603);
  }
});
