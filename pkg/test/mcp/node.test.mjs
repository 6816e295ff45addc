// The listener for Node's HTTP, beside the SDK's own.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connect2, createServer as createServer2 } from 'node:http2';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { after, test } from 'node:test';

import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import express from 'express';
import { answerTo, sending, serving } from './client.mjs';
import { door, guardOf, text } from './wire.mjs';

const lines = [];
const logger = { warn: (line) => lines.push(line) };
const guard = guardOf({ logger });
const { fetch } = createMcpHandler(() => {
  const server = guard.protect(new McpServer({ name: 'notes', version: '1' }));
  server.registerTool('greet', {}, (ctx) => text(ctx.http?.authInfo?.clientId ?? 'nobody'));
  return server;
});
const params = { name: 'greet', arguments: {} };
const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
const events = { 'content-type': 'text/event-stream' };
const encoded = (text) => new TextEncoder().encode(text);
/** A stream of events. */
const streaming = (source) => new Response(new ReadableStream(source), { headers: events });

/** Posts a body, and returns the request. */
function posting(url, body, { headers, ...options } = {}) {
  const common = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  return sending(url, { ...options, headers: { ...common, ...headers } }).end(body);
}

/** What a server answers, as far as it is its own. */
async function answerOf(url, body, options) {
  const { status, headers, text } = await answerTo(posting(url, body, options));
  return { status, type: headers['content-type'], text };
}

test('it answers as the listener of the SDK does', async () => {
  const ours = await serving({ after }, guard.node(fetch));
  const theirs = await serving({ after }, toNodeHandler({ fetch }));
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  for (const [body, options] of [
    ...[ping, `[${ping}]`, '{', '', '7', 'null'].map((body) => [body]),
    [ping, { headers: { accept: 'text/plain' } }],
    [ping, { headers: { 'content-type': 'text/plain' } }],
    ['', { method: 'GET' }],
    ['', { method: 'DELETE' }],
    [ping, { method: 'PUT' }],
    [`"${'x'.repeat(5_000_000)}"`],
  ]) {
    const [our, their] = await Promise.all([ours, theirs].map((at) => answerOf(at, body, options)));
    const what = `${options?.method} ${body.slice(0, 50)}`;
    assert.equal(our.status, their.status, what);
    if (their.status !== 413) assert.deepEqual(our, their, what);
  }
});

test('an address that is none is refused, and one of two slashes names no other host', async () => {
  const url = await serving(
    { after },
    guard.node(async ({ url }) => new Response(url)),
  );
  const socket = connect(url.port, '127.0.0.1');
  socket.end('GET /mcp HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
  assert.match(`${await buffer(socket)}`, /^HTTP\/1.1 400 /);
  const { text } = await answerOf(`${url.origin}//elsewhere.example/mcp`, '{}');
  assert.equal(text, `${url.origin}//elsewhere.example/mcp`);
});

test('what others read before is taken: the user, the message or a body; or it is refused', {
  timeout: 30_000,
}, async () => {
  const call = JSON.stringify(message);
  const type = '*/*';
  const json = express.json({ strict: false });
  const before = (request, _, next) => {
    request.auth = { token: 't', clientId: 'alice', scopes: [] };
    next();
  };
  for (const [parser, body, status] of [
    ...[express.text({ type }), express.raw({ type }), json].map((one) => [one, call, 200]),
    ...['null', '7', '"x"'].map((body) => [json, body, 400]),
  ]) {
    for (const handler of [fetch, guard.fetch(fetch, { required: false })]) {
      const app = express();
      app.use(parser, before, guard.node(handler));
      const answer = await answerOf(await serving({ after }, app), body);
      assert.equal(answer.status, status, answer.text);
      if (status === 200) assert.match(answer.text, /alice/);
    }
  }
  // A handler that passes its options not on has the body.
  const alone = await serving(
    { after },
    guard.node((request) => fetch(request)),
  );
  assert.match((await answerOf(alone, call)).text, /nobody/);
});

test('what a handler throws is logged, and answered; in a stream that began it is logged', async () => {
  const fails = () => Promise.reject(new Error('of hunter2'));
  const { status, text } = await answerOf(await serving({ after }, guard.node(fails)), '{}');
  assert.equal(status, 500);
  assert.equal(JSON.parse(text).error.code, -32603);
  assert.ok(!text.includes('hunter2'));
  assert.match(lines.at(-1), /handler: expected a response, found Error/);

  let pulls = 0;
  const pull = (to) => {
    pulls += 1;
    if (pulls > 1) throw new RangeError('of hunter2');
    to.enqueue(encoded(':\n\n'));
  };
  await assert.rejects(
    answerOf(
      await serving(
        { after },
        guard.node(async () => streaming({ pull })),
      ),
      '{}',
    ),
  );
  assert.match(lines.at(-1), /handler: expected a response, found RangeError/);
});

test('nothing that a response refuses ends the process', async () => {
  const url = await serving({ after }, (request, response) =>
    guard.node(fetch)(
      request,
      Object.assign(response, { setHeader: () => assert.fail('its own') }),
    ),
  );
  await assert.rejects(answerOf(url, '{}'));
});

test('a stream that begins after its client has left is cancelled', {
  timeout: 30_000,
}, async () => {
  const [begun, cancelled] = [door(), door()];
  const listener = guard.node(async ({ signal }) => {
    begun.pass();
    await once(signal, 'abort');
    return streaming({ cancel: () => void cancelled.pass() });
  });
  const sent = posting(await serving({ after }, listener), '{}');
  await begun.came;
  sent.destroy();
  await cancelled.came;
});

const chunk = encoded(`data: ${'x'.repeat(65_000)}\n\n`);

/** Reads the head of a stream, and waits until what the sockets hold is full: nothing moves any more. */
async function untilFull(listener, moved) {
  const [response] = await once(posting(await serving({ after }, listener), '{}'), 'response');
  response.pause();
  for (let before = -1; before !== moved() || before === 0; ) {
    before = moved();
    await new Promise((later) => setTimeout(later, 500));
  }
  return response;
}

test('a client that leaves cancels its request, and a slow one slows its stream', async () => {
  let pulled = 0;
  const cancelled = door();
  let signal;
  const pull = (to) => {
    pulled += 1;
    to.enqueue(chunk);
  };
  const listener = guard.node(async (request) => {
    signal = request.signal;
    return streaming({ pull, cancel: () => void cancelled.pass() });
  });
  const response = await untilFull(listener, () => pulled);
  assert.ok(pulled < 5_000, `${pulled}`);
  assert.equal(signal.aborted, false);
  response.destroy();
  await cancelled.came;
  assert.equal(signal.aborted, true);
});

test('a listener hears of a slow client', { timeout: 30_000 }, async () => {
  let written = 0;
  const listener = guard.listener(
    (_, response) => {
      response.writeHead(200, events);
      const write = () => {
        while (written < 2000) {
          written += 1;
          if (!response.write(chunk)) return response.once('drain', write);
        }
        response.end();
      };
      write();
    },
    { required: false },
  );
  const response = await untilFull(listener, () => written);
  assert.ok(written < 2000, `${written}`);
  assert.equal((await buffer(response)).length, 2000 * chunk.length);
});

test('HTTP/2 is served too: a message, a stream, a failure, a listener', {
  timeout: 30_000,
}, async (t) => {
  const headers = new Headers({ ...events, connection: 'keep-alive' });
  for (const cookie of ['a=1', 'b=2']) headers.append('set-cookie', cookie);
  const body = ReadableStream.from(['data: 1\n\n', 'data: 2\n\n'].map(encoded));
  const answers = {
    '/json': () => Response.json({ ok: true }, { statusText: 'Fine' }),
    '/stream': () => new Response(body, { headers }),
    '/fails': () => assert.fail('its own'),
  };
  const posted = await over2(
    guard.node(async ({ url }) => answers[new URL(url).pathname]()),
    t,
  );
  assert.equal((await posted('/json')).text, '{"ok":true}');
  const streamed = await posted('/stream');
  assert.equal(streamed.text, 'data: 1\n\ndata: 2\n\n');
  assert.deepEqual(streamed.headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal((await posted('/fails')).headers[':status'], 500);

  const listens = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"ok":true}');
  };
  const listened = await over2(guard.listener(listens, { required: false }), t);
  assert.equal((await listened('/')).text, '{"ok":true}');
});

/** Returns what posts to a handler over HTTP/2. */
async function over2(handler, t) {
  const server = createServer2(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect2(`http://127.0.0.1:${server.address().port}`);
  t.after(() => client.close() ?? server.close());
  return async (path) => {
    const sent = client.request({ ':method': 'POST', ':path': path });
    sent.end('{}');
    const [headers] = await once(sent, 'response');
    return { headers, text: `${await buffer(sent)}` };
  };
}
