// The listener for Node's HTTP, beside the SDK's own.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import { connect as connect2, createServer as createServer2 } from 'node:http2';
import { connect } from 'node:net';
import { after, test } from 'node:test';

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import express from 'express';
import { Codec, Key, KeyRing } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { connected, LEGACY, MODERN } from './client.mjs';

const codec = new Codec({ keys: new KeyRing([Key.generate()]), audience: 'https://example.com' });
const lines = [];
const logger = { warn: (line) => lines.push(line) };
const guard = new Guard({ codec, principal: 'anonymous', logger });
const { fetch } = createMcpHandler(() => {
  const server = guard.protect(new McpServer({ name: 'notes', version: '1' }));
  server.registerTool('greet', {}, (ctx) => ({
    content: [{ type: 'text', text: ctx.http?.authInfo?.clientId ?? 'nobody' }],
  }));
  return server;
});

const servers = [];
after(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function serving(listener) {
  const server = createServer(listener);
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

/** What a server answers, as far as it is its own. */
async function answerOf(port, body, options = {}) {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const sent = send({
    port,
    path: '/mcp',
    method: 'POST',
    ...options,
    headers: { ...headers, ...options.headers },
  });
  // A server may answer and go before the whole body is sent.
  sent.on('error', () => {});
  sent.end(body);
  const [response] = await once(sent, 'response');
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, type: response.headers['content-type'], text };
}

for (const [name, era] of Object.entries({ MODERN, LEGACY })) {
  test(`the official client is served, ${name}`, async () => {
    const port = await serving(guard.node(guard.fetch(fetch)));
    const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`));
    const client = await connected(transport, era);
    const { result } = await client.call('greet', {});
    assert.equal(result.content[0].text, 'nobody');
    await client.client.close();
  });
}

test('it answers as the listener of the SDK does', async () => {
  const ours = await serving(guard.node(fetch));
  const theirs = await serving(toNodeHandler({ fetch }));
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  for (const [body, options] of [
    [ping],
    [`[${ping}]`],
    ['{'],
    [''],
    ['7'],
    ['null'],
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

test('an address that is none is refused, and the server goes on', async () => {
  const port = await serving(guard.node(fetch));
  const socket = connect(port, '127.0.0.1');
  socket.end('GET /mcp HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n');
  let said = '';
  for await (const chunk of socket.setEncoding('latin1')) said += chunk;
  assert.match(said, /^HTTP\/1.1 400 /);
  assert.equal((await answerOf(port, '{')).status, 400);
});

test('a path of two slashes names no other host', async () => {
  const port = await serving(guard.node(async ({ url }) => new Response(url)));
  const { text } = await answerOf(port, '{}', { path: '//elsewhere.example/mcp' });
  assert.equal(text, `http://localhost:${port}//elsewhere.example/mcp`);
});

test('what others read before is taken: the user and the message', async () => {
  const listener = guard.node(fetch);
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'greet', arguments: {} },
  };
  const port = await serving(async (request, response) => {
    for await (const _ of request);
    request.body = message;
    request.auth = { token: 't', clientId: 'alice', scopes: [] };
    return listener(request, response);
  });
  assert.match((await answerOf(port, 'read')).text, /alice/);
  // A handler that passes its options not on has the body.
  const alone = await serving(guard.node((request) => fetch(request)));
  assert.match((await answerOf(alone, JSON.stringify(message))).text, /nobody/);
});

test('what a handler throws is logged, and answered', async () => {
  const port = await serving(
    guard.node(() => {
      throw new Error('of hunter2');
    }),
  );
  const { status, text } = await answerOf(port, '{}');
  assert.equal(status, 500);
  assert.equal(JSON.parse(text).error.code, -32603);
  assert.match(lines.at(-1), /handler: expected a response, found Error/);
  assert.ok(!text.includes('hunter2'));
});

test('a stream that begins after its client has left is cancelled', {
  timeout: 30_000,
}, async () => {
  let cancel;
  const isCancelled = new Promise((resolve) => {
    cancel = resolve;
  });
  let came;
  const hasCome = new Promise((resolve) => {
    came = resolve;
  });
  const listener = guard.node(async ({ signal }) => {
    came();
    await once(signal, 'abort');
    const headers = { 'content-type': 'text/event-stream' };
    return new Response(new ReadableStream({ cancel }), { headers });
  });
  const port = await serving(listener);
  const sent = send({ port, path: '/mcp', method: 'POST' });
  sent.on('error', () => {});
  sent.end('{}');
  await hasCome;
  sent.destroy();
  await isCancelled;
});

test('a client that leaves cancels its request, and a slow one slows its stream', async () => {
  let pulled = 0;
  let cancelled;
  const isCancelled = new Promise((resolve) => {
    cancelled = resolve;
  });
  let signal;
  const stream = (request) => {
    signal = request.signal;
    const chunk = new TextEncoder().encode(`data: ${'x'.repeat(65_000)}\n\n`);
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(chunk);
      },
      cancel: cancelled,
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  const port = await serving(guard.node(async (request) => stream(request)));
  const sent = send({ port, path: '/mcp', method: 'POST' }).end('{}');
  const [response] = await once(sent, 'response');
  response.pause();
  // Until nothing moves any more: what the sockets hold is full.
  for (let before = -1; before !== pulled; ) {
    before = pulled;
    await new Promise((later) => setTimeout(later, 500));
  }
  assert.ok(pulled > 0 && pulled < 5_000, `${pulled}`);
  assert.equal(signal.aborted, false);
  response.destroy();
  await isCancelled;
  assert.equal(signal.aborted, true);
});

test('a stream that fails after its head is logged', async () => {
  const headers = { 'content-type': 'text/event-stream' };
  let pulls = 0;
  const pull = (to) => {
    pulls += 1;
    if (pulls > 1) throw new RangeError('of hunter2');
    to.enqueue(new TextEncoder().encode(':\n\n'));
  };
  const port = await serving(
    guard.node(async () => new Response(new ReadableStream({ pull }), { headers })),
  );
  lines.length = 0;
  await assert.rejects(answerOf(port, '{}'));
  assert.match(lines.join(), /handler: expected a response, found RangeError/);
});

test('a body that another parser has read is served, or refused', { timeout: 30_000 }, async () => {
  const message = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'greet', arguments: {} },
  };
  const type = '*/*';
  for (const [parser, body, status] of [
    [express.text({ type }), JSON.stringify(message), 200],
    [express.raw({ type }), JSON.stringify(message), 200],
    [express.json({ strict: false }), JSON.stringify(message), 200],
    ...['null', '7', '"x"'].map((body) => [express.json({ strict: false }), body, 400]),
  ]) {
    for (const listener of [
      guard.node(fetch),
      guard.node(guard.fetch(fetch, { required: false })),
    ]) {
      const app = express();
      app.use(parser, listener);
      const answer = await answerOf(await serving(app), body);
      assert.equal(answer.status, status, answer.text);
      if (status === 200) assert.match(answer.text, /nobody/);
    }
  }
});

test('HTTP/2 is served too: a message, a stream, a failure', { timeout: 30_000 }, async (t) => {
  const stream = () =>
    ReadableStream.from(['data: 1\n\n', 'data: 2\n\n'].map((one) => new TextEncoder().encode(one)));
  const answers = {
    '/json': () => Response.json({ ok: true }, { statusText: 'Fine' }),
    '/stream': () => {
      const headers = new Headers({
        'content-type': 'text/event-stream',
        connection: 'keep-alive',
      });
      for (const cookie of ['a=1', 'b=2']) headers.append('set-cookie', cookie);
      return new Response(stream(), { headers });
    },
    '/large': () => assert.fail('it is delivered'),
  };
  const handler = guard.node(async (request) => answers[new URL(request.url).pathname]());
  const posted = await over2(t, handler);
  assert.deepEqual((await posted('/json')).text, '{"ok":true}');
  const { headers, text } = await posted('/stream');
  assert.equal(text, 'data: 1\n\ndata: 2\n\n');
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2']);
  assert.equal((await posted('/large')).status, 500);
});

test('a listener answers over HTTP/2', async (t) => {
  const listener = guard.listener(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"ok":true}');
    },
    { required: false },
  );
  const posted = await over2(t, listener);
  assert.equal((await posted('/')).text, '{"ok":true}');
});

/** Returns what posts to a handler over HTTP/2. */
async function over2(t, handler) {
  const server = createServer2(handler).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect2(`http://127.0.0.1:${server.address().port}`);
  t.after(() => client.close() ?? server.close());
  return async (path) => {
    const sent = client.request({ ':method': 'POST', ':path': path });
    sent.end('{}');
    const [headers] = await once(sent, 'response');
    let text = '';
    for await (const chunk of sent.setEncoding('utf8')) text += chunk;
    return { headers, status: headers[':status'], text };
  };
}

test('nothing that a response refuses ends the process', async () => {
  const port = await serving((request, response) => {
    response.setHeader = () => {
      throw new Error('of the response');
    };
    return guard.node(fetch)(request, response);
  });
  await assert.rejects(answerOf(port, '{}'));
});

test('a listener hears of a slow client', { timeout: 30_000 }, async () => {
  const chunk = 'x'.repeat(65_000);
  let written = 0;
  let [goOn, isFull] = [() => {}, () => {}];
  const full = new Promise((resolve) => {
    isFull = resolve;
  });
  const listener = guard.listener(
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = () => {
        while (written < 2000) {
          written += 1;
          if (response.write(chunk)) continue;
          response.once('drain', write);
          return isFull();
        }
        response.end();
        goOn();
      };
      write();
    },
    { required: false },
  );
  const port = await serving(listener);
  const sent = send({ port, path: '/mcp', method: 'POST' }).end('{}');
  const [response] = await once(sent, 'response');
  response.pause();
  await full;
  for (let before = -1; before !== written; ) {
    before = written;
    await new Promise((later) => setTimeout(later, 500));
  }
  assert.ok(written < 2000, `${written}`);
  const ended = new Promise((resolve) => {
    goOn = resolve;
  });
  let size = 0;
  response.on('data', ({ length }) => {
    size += length;
  });
  response.resume();
  await Promise.all([ended, once(response, 'end')]);
  assert.equal(size, 2000 * chunk.length);
});
