// Servers on @modelcontextprotocol/sdk 1.x, with its own client: over HTTP on Express, on Hono and stateful, and on stdio.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import express from 'express';
import { Hono } from 'hono';
import { Key } from 'sealwax';
import { HandleRefused, MemoryLedger } from 'sealwax/mcp';
import { compiled, listen } from './client.mjs';
import { modulesOf, PACKAGES, world } from './former.mjs';

const keys = Key.generate().toText();
/** Who calls, by a header: 1.x hands over the headers of the request. */
const principal = ({ http }) => {
  const subject = http?.req?.headers.get('x-user');
  return subject === null ? undefined : { subject };
};

/** Clients of a package, which are closed after the test. */
async function clientsOf(name, t) {
  const { Client } = await modulesOf(name, 'client/index');
  const { StreamableHTTPClientTransport } = await modulesOf(name, 'client/streamableHttp');
  const connected = async (transport) => {
    const client = new Client({ name: 'former client', version: '1' }, { capabilities: {} });
    await client.connect(transport);
    t.after(() => client.close());
    const call = async (tool, more) => {
      const { content, isError } = await client.callTool({ name: tool, ...more });
      return isError ? content[0].text : JSON.parse(content[0].text);
    };
    return { client, transport, call };
  };
  const to = (url, user, sessionId) => {
    const requestInit = { headers: { 'x-user': user } };
    return connected(
      new StreamableHTTPClientTransport(url, { requestInit, ...(sessionId && { sessionId }) }),
    );
  };
  return { connected, to };
}

/** A replica: the SDK's own example for Express, with the guard put in. */
async function onExpress(name, t, settings = {}) {
  const { StreamableHTTPServerTransport } = await modulesOf(name, 'server/streamableHttp');
  const { guard, factory } = await world(name, { keys, principal, ...settings });
  const app = express();
  app.use(express.json());
  app.all(
    '/mcp',
    guard.listener(async (request, response) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
      const server = factory();
      response.on('close', () => server.close());
      await server.connect(transport);
      await transport.handleRequest(request, response, request.body);
    }),
  );
  const { url, close } = await listen(app);
  t.after(close);
  return { url, guard };
}

const refused = (code) => (error) => error.code === code || `${error}`.includes(`${code}`);

for (const name of PACKAGES) {
  test(`${name} on Express: a session goes on at another replica`, async (t) => {
    const refusals = [];
    const ledger = new MemoryLedger();
    const settings = { ledger, onRefused: ({ code, subject }) => refusals.push([code, subject]) };
    const [one, two] = [await onExpress(name, t, settings), await onExpress(name, t, settings)];
    const { to } = await clientsOf(name, t);
    const alice = await to(one.url, 'alice');
    const { sessionId } = alice.transport;
    assert.match(sessionId, /^sw1\./);
    const { nextCursor } = await alice.client.listResources();
    assert.match(nextCursor, /^sw1\./);

    // As after a deploy: the client goes on, and does not initialise again.
    const post = (url, user, method, params = {}, more = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'x-user': user,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-session-id': sessionId,
          ...more,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
    const answerOf = async (response) => JSON.parse((await response.text()).match(/\{.*\}/)[0]);
    const page = await answerOf(
      await post(two.url, 'alice', 'resources/list', { cursor: nextCursor }),
    );
    assert.equal(page.result.resources[0].name, 'page 2');
    const call = { name: 'negotiated', arguments: {} };
    const { result } = await answerOf(await post(two.url, 'alice', 'tools/call', call));
    assert.equal(JSON.parse(result.content[0].text).clientInfo.name, 'former client');
    assert.equal((await post(two.url, 'mallory', 'resources/list')).status, 404);
    assert.equal(
      (await post(two.url, 'alice', 'tools/list', {}, { 'mcp-session-id': 'x' })).status,
      404,
    );
    const end = { method: 'DELETE', headers: { 'x-user': 'alice', 'mcp-session-id': sessionId } };
    assert.equal((await fetch(one.url, end)).status, 204);
    assert.equal((await post(two.url, 'alice', 'tools/list')).status, 404);
    assert.deepEqual(refusals, [
      ['principal_mismatch', 'mallory'],
      ['malformed', 'alice'],
      ['ended', 'alice'],
    ]);
  });

  test(`${name} on Express: cursors, states and handles are the caller's`, async (t) => {
    const refusals = [];
    const settings = { onRefused: ({ code }) => refusals.push(code) };
    const { url } = await onExpress(name, t, settings);
    const { to } = await clientsOf(name, t);
    const [alice, mallory] = [await to(url, 'alice'), await to(url, 'mallory')];
    const { nextCursor: cursor } = await alice.client.listResources();
    await assert.rejects(mallory.client.listResources({ cursor }), refused(-32602));
    await assert.rejects(alice.client.listResources({ cursor: 'page 2' }), refused(-32602));
    const requestState = await alice.call('state');
    assert.match(requestState, /^sw1\./);
    assert.deepEqual(await alice.call('state', { requestState }), { asked: 7 });
    await assert.rejects(mallory.call('state', { requestState }), refused(-32602));
    assert.match((await alice.call('mint')).handle, /^row_/);
    assert.deepEqual(refusals, ['principal_mismatch', 'malformed', 'principal_mismatch']);
  });

  test(`${name} on Express: progress comes before the answer`, async (t) => {
    const { url } = await onExpress(name, t);
    const { to } = await clientsOf(name, t);
    const { client } = await to(url, 'alice');
    const seen = [];
    const params = { name: 'steps', arguments: {} };
    await client.callTool(params, undefined, {
      onprogress: ({ progress }) => seen.push(progress),
    });
    assert.deepEqual(seen, [1, 2]);
  });

  test(`${name} on Express: sessions of the data layer`, async (t) => {
    const { url } = await onExpress(name, t, { sessions: true });
    const { to } = await clientsOf(name, t);
    const { client } = await to(url, 'alice');
    const { ResultSchema } = await modulesOf(name, 'types');
    const created = await client.request({ method: 'sessions/create', params: {} }, ResultSchema);
    const key = 'io.modelcontextprotocol/session';
    let { sessionId, state } = created.session;
    for (const value of [1, 2]) {
      const _meta = { [key]: { sessionId, state } };
      const result = await client.callTool({ name: 'next', _meta });
      assert.equal(JSON.parse(result.content[0].text), value);
      ({ sessionId, state } = result._meta[key]);
    }
  });

  test(`${name}: a server that keeps its sessions, and one whose handler its author wrapped`, async (t) => {
    const { StreamableHTTPServerTransport } = await modulesOf(name, 'server/streamableHttp');
    const { factory, wrapped } = await world(name, { keys, principal });
    const { to } = await clientsOf(name, t);
    const served = async (server) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
      await server.connect(transport);
      const { url, close } = await listen((req, res) => transport.handleRequest(req, res));
      t.after(close);
      return to(url, 'alice');
    };
    const { client, call } = await served(factory());
    const { nextCursor: cursor } = await client.listResources();
    const { resources } = await client.listResources({ cursor });
    assert.equal(resources[0].name, 'page 2');
    const { handle } = await call('mint');
    const other = await served(wrapped());
    assert.equal((await other.call('any', { arguments: { handle } })).handle, handle);
    assert.match(await other.call('any', { arguments: { handle: 'row_x' } }), /not valid/);
  });

  test(`${name} on stdio: a process of its own`, async (t) => {
    const { StdioClientTransport } = await modulesOf(name, 'client/stdio');
    const { connected } = await clientsOf(name, t);
    const args = [fileURLToPath(new URL('former.mjs', import.meta.url)), name, keys];
    const env = { ...compiled };
    const process_ = () =>
      connected(new StdioClientTransport({ command: process.execPath, args, env }));
    const { nextCursor: cursor } = await (await process_()).client.listResources();
    const { client, call } = await process_();
    assert.equal((await client.listResources({ cursor })).resources[0].name, 'page 2');
    await assert.rejects(client.listResources({ cursor: `${cursor}x` }), refused(-32602));
    assert.match(await call('state'), /^sw1\./);
  });

  // Since 1.25 there is a transport of web-standard requests.
  const webStandard = await modulesOf(name, 'server/webStandardStreamableHttp').catch(() => {});
  if (webStandard === undefined) continue;
  const { WebStandardStreamableHTTPServerTransport } = webStandard;

  test(`${name} on Hono: the SDK's own example`, async (t) => {
    const { guard, factory } = await world(name, { keys, principal });
    const handler = guard.fetch(async (request, options) => {
      const transport = new WebStandardStreamableHTTPServerTransport();
      await factory().connect(transport);
      return transport.handleRequest(request, options);
    });
    const app = new Hono();
    app.all('/mcp', (context) => handler(context.req.raw));
    const { url, close } = await listen(guard.node(app.fetch));
    t.after(close);
    const { to } = await clientsOf(name, t);
    const { client, transport, call } = await to(url, 'alice');
    assert.match(transport.sessionId, /^sw1\./);
    const { nextCursor: cursor } = await client.listResources();
    assert.equal((await client.listResources({ cursor })).resources[0].name, 'page 2');
    assert.equal((await call('negotiated')).clientInfo.name, 'former client');
  });
}

test('who forgot to protect a server of 1.x is told so', async (t) => {
  for (const name of PACKAGES) {
    const { McpServer } = await modulesOf(name, 'server/mcp');
    const { InMemoryTransport } = await modulesOf(name, 'inMemory');
    const { guard } = await world(name, { keys });
    const rows = guard.referenceHandles('row');
    const server = new McpServer({ name: 'x', version: '1' });
    server.tool('mint', async (extra) => {
      await assert.rejects(rows.mint(extra), (error) => !(error instanceof HandleRefused));
      return rows.mint(extra);
    });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(ours);
    const { connected } = await clientsOf(name, t);
    const { call } = await connected(theirs);
    assert.match(await call('mint'), /call guard\.protect\(server\) before it connects/);
  }
});
