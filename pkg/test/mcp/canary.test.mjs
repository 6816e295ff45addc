// The SDK that this passed with, and what the guard assumes of it. All of it is public, though not all of it is promised.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import {
  createMcpHandler,
  DEFAULT_MAX_REQUEST_BODY_SIZE,
  InMemoryTransport,
  isLegacyRequest,
  McpServer,
  Server,
} from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Codec, Key } from 'sealwax';
import { Guard } from 'sealwax/mcp';

const passedWith = { server: '2.4.0', client: '2.4.0', node: '2.1.2' };
const info = { name: 'canary', version: '1' };

test('the versions are those that it passed with', () => {
  for (const [name, version] of Object.entries(passedWith)) {
    const path = `node_modules/@modelcontextprotocol/${name}/package.json`;
    const manifest = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
    assert.equal(
      manifest.version,
      version,
      `@modelcontextprotocol/${name}: if all else passes, write ${manifest.version} here and in test/mcp/package.json`,
    );
  }
});

test('McpServer.server is the Server that connects', async () => {
  const server = new McpServer(info);
  assert.ok(server.server instanceof Server, 'moved: McpServer.server');
  let connected = false;
  server.server.connect = async () => {
    connected = true;
  };
  await server.connect(InMemoryTransport.createLinkedPair()[0]);
  assert.ok(connected, 'moved: McpServer.connect no longer calls connect of its server');
});

test('what was cancelled aborts, and what is no cancellation does not', async () => {
  for (const [params, aborted] of [
    [{ requestId: 1 }, true],
    [{ requestId: 1, reason: 'x' }, true],
    [{ requestId: 1, reason: 5 }, false],
    [{ requestId: '1' }, false],
  ]) {
    const server = new Server(info, { capabilities: { tools: {} } });
    let signal;
    let answer;
    server.setRequestHandler('tools/call', (_, ctx) => {
      signal = ctx.mcpReq.signal;
      return new Promise((done) => {
        answer = () => done({ content: [] });
      });
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const answers = [];
    theirs.onmessage = (message) => answers.push(message);
    await theirs.start();
    await server.connect(ours);
    ours.onmessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } });
    await new Promise(setImmediate);
    ours.onmessage({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
    await new Promise(setImmediate);
    const what = `moved: ${JSON.stringify(params)}`;
    assert.equal(signal.aborted, aborted, what);
    answer();
    await new Promise(setImmediate);
    assert.equal(answers.length, aborted ? 0 : 1, what);
    await server.close();
  }
});

test('callbacks are set before a transport starts', async () => {
  const [ours] = InMemoryTransport.createLinkedPair();
  const start = ours.start.bind(ours);
  let was;
  ours.start = async () => {
    was = [typeof ours.onmessage, typeof ours.onclose];
    await start();
  };
  await new Server(info).connect(ours);
  assert.deepEqual(was, ['function', 'function'], 'moved: callbacks are set after start');
});

test('what a tool throws becomes its message, and nothing else', async () => {
  const server = new McpServer(info);
  server.registerTool('x', {}, () => {
    throw new Error('the fixed text');
  });
  const { answers } = await exchange(server, {});
  const content = [{ type: 'text', text: 'the fixed text' }];
  assert.deepEqual(answers[0].result, { content, isError: true }, 'moved: McpServer on errors');
});

test('_meta of a request reaches its handler and its context, and of a result leaves', async () => {
  const server = new Server(info, { capabilities: { tools: {} } });
  const contexts = [];
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    contexts.push(ctx);
    return { content: [], _meta: params._meta };
  });
  const _meta = { 'io.modelcontextprotocol/session': { sessionId: 'x' } };
  const { answers } = await exchange(server, { _meta });
  assert.deepEqual(contexts[0].mcpReq._meta, _meta, 'moved: ctx.mcpReq._meta');
  assert.deepEqual(answers[0].result._meta, _meta, 'moved: _meta is filtered');
});

test('a requestState is in the context as it came, and none where none came', async () => {
  for (const params of [{}, { requestState: 'x' }]) {
    const server = new Server(info, { capabilities: { tools: {} } });
    const states = [];
    server.setRequestHandler('tools/call', (_, ctx) => {
      states.push(ctx.mcpReq.requestState());
      return { content: [] };
    });
    await exchange(server, params);
    assert.deepEqual(states, [params.requestState], 'moved: ctx.mcpReq.requestState');
  }
});

test('a handler of HTTP takes a parsed body', async () => {
  const factory = () => {
    const server = new Server(info, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/call', () => ({ content: [] }));
    return server;
  };
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: 'not this',
  });
  const parsedBody = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };
  assert.equal(await isLegacyRequest(request, parsedBody), true, 'moved: isLegacyRequest');
  const response = await createMcpHandler(factory).fetch(request, { parsedBody });
  const text = await response.text();
  assert.match(text, /^data: ?\{.*"result".*\}$/m, 'moved: an event has one line of data');
  assert.equal(DEFAULT_MAX_REQUEST_BODY_SIZE, 4 * 1024 * 1024, 'moved: how much is read of a body');
});

test('what the guard lets pass without a session, the SDK does not serve as legacy', async () => {
  const codec = new Codec({ keys: Key.generate().toText(), audience: 'a' });
  const guard = new Guard({ codec, principal: 'anonymous', logger: { warn() {} } });
  let passed;
  const around = guard.fetch(async () => {
    passed = true;
    return new Response();
  });
  const claim = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
  const paramses = [undefined, {}, { _meta: {} }, { _meta: null }, claim, { _meta: 7 }];
  const bodies = ['tools/list', 'notifications/x', 'initialize'].flatMap((method) =>
    paramses.flatMap((params) => [
      { jsonrpc: '2.0', id: 1, method, params },
      { jsonrpc: '2.0', method, params },
      { jsonrpc: '2.0', id: 1, method, params, result: {} },
      [{ jsonrpc: '2.0', id: 1, method, params }],
    ]),
  );
  bodies.push({ jsonrpc: '2.0', id: 1, result: claim }, { ...claim }, 7, [], {});
  const versions = ['2026-07-28', '2025-11-25', '9', 'x', '2027', ' 2026-07-28', '', undefined];
  let compared = 0;
  for (const body of bodies) {
    for (const version of versions) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const headers = {
          'content-type': 'application/json',
          ...(version !== undefined && { 'mcp-protocol-version': version }),
        };
        const request = () =>
          new Request('http://localhost/mcp', {
            ...{ method, headers },
            ...(method === 'POST' && { body: JSON.stringify(body) }),
          });
        passed = false;
        await around(request());
        // The answer to initialize is what a session begins with.
        if (passed && Object(body).method !== 'initialize') {
          const what = `moved: ${method} ${version} ${JSON.stringify(body)}`;
          assert.equal(await isLegacyRequest(request()), false, what);
          compared += 1;
        }
      }
    }
  }
  assert.ok(compared > 20);
});

test('the transport of stdio reads lines of one stream, and writes them to another', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const transport = new StdioServerTransport(stdin, stdout);
  const seen = [];
  transport.onmessage = (message) => seen.push(message);
  await transport.start();
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  stdin.write(`${JSON.stringify(ping)}\n`);
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} });
  await new Promise((later) => setTimeout(later, 20));
  assert.deepEqual(seen, [ping], 'moved: StdioServerTransport(stdin)');
  const written = JSON.parse(`${stdout.read()}`);
  assert.deepEqual(written.result, {}, 'moved: StdioServerTransport(_, stdout)');
  await transport.close();
});

/** One `tools/call`, straight into what the server set on its transport. */
async function exchange(server, params) {
  const answers = [];
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (message) => answers.push(message);
  await theirs.start();
  await server.connect(ours);
  ours.onmessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x', ...params } });
  await new Promise((later) => setTimeout(later, 20));
  return { answers };
}
