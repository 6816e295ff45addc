// Servers on @modelcontextprotocol/sdk 1.x, with its own client: over HTTP on Express, on Hono and stateful, and on stdio.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import express from 'express';
import { Hono } from 'hono';
import { Key } from 'sealwax';
import { MemoryLedger } from 'sealwax/mcp';
import { compiled, serving } from './client.mjs';
import { modulesOf, PACKAGES, world } from './former.mjs';
import { first } from './majors.mjs';

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
    const page = async (cursor) => (await client.listResources({ cursor })).resources[0].name;
    return { client, transport, call, page };
  };
  /** With the id of a session, as after a deploy: the client goes on, and does not initialise again. */
  const to = (url, user, sessionId) => {
    const requestInit = { headers: { 'x-user': user } };
    return connected(new StreamableHTTPClientTransport(url, { requestInit, sessionId }));
  };
  return { connected, to };
}

/** A replica: the SDK's own example for Express, with the guard put in. */
async function onExpress(name, t, settings) {
  const { guard, factory } = await world(name, { keys, principal, ...settings });
  const app = express();
  app.use(express.json());
  app.all('/mcp', (await first(name)).wrapped(factory, guard));
  return serving(t, app);
}

const refused = (code) => (error) => error.code === code || `${error}`.includes(`${code}`);

for (const name of PACKAGES) {
  test(`${name} on Express: a session goes on at another replica`, async (t) => {
    const refusals = [];
    const settings = {
      ledger: new MemoryLedger(),
      onRefused: ({ code, subject }) => refusals.push(`${subject}: ${code}`),
    };
    const [one, two] = [await onExpress(name, t, settings), await onExpress(name, t, settings)];
    const { to } = await clientsOf(name, t);
    const alice = await to(one, 'alice');
    const { sessionId } = alice.transport;
    const [there, mallory] = [await to(two, 'alice', sessionId), await to(two, 'mallory')];
    const { nextCursor } = await alice.client.listResources();
    const requestState = await alice.call('state');
    for (const sealed of [sessionId, nextCursor, requestState]) assert.match(sealed, /^sw1\./);
    await assert.rejects(mallory.page(nextCursor), refused(-32602));
    await assert.rejects(mallory.call('state', { requestState }), refused(-32602));
    assert.equal(await there.page(nextCursor), 'page 2');
    assert.deepEqual(await there.call('state', { requestState }), { asked: 7 });
    assert.match((await there.call('mint')).handle, /^row_/);
    assert.equal((await there.call('negotiated')).clientInfo.name, 'former client');

    const seen = [];
    const onprogress = ({ progress }) => seen.push(progress);
    await there.client.callTool({ name: 'steps', arguments: {} }, undefined, { onprogress });
    assert.deepEqual(seen, [1, 2]);

    await assert.rejects((await to(two, 'mallory', sessionId)).page(), refused(404));
    await assert.rejects((await to(two, 'alice', 'x')).page(), refused(404));
    await alice.transport.terminateSession();
    await assert.rejects(there.page(), refused(404));
    const mallorys = Array(3).fill('mallory: principal_mismatch');
    assert.deepEqual(refusals, [...mallorys, 'alice: malformed', 'alice: ended']);
  });

  test(`${name}: a server that keeps its sessions, and one whose handler its author wrapped`, async (t) => {
    const { StreamableHTTPServerTransport } = await modulesOf(name, 'server/streamableHttp');
    const { factory, wrapped } = await world(name, { keys, principal });
    const { to } = await clientsOf(name, t);
    const stateful = async (server) => {
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID });
      await server.connect(transport);
      const url = await serving(t, (req, res) => transport.handleRequest(req, res));
      return to(url, 'alice');
    };
    const { client, call, page } = await stateful(factory());
    assert.equal(await page((await client.listResources()).nextCursor), 'page 2');
    const { handle } = await call('mint');
    const other = await stateful(wrapped());
    assert.equal((await other.call('any', { arguments: { handle } })).handle, handle);
    assert.match(await other.call('any', { arguments: { handle: 'row_x' } }), /not valid/);
  });

  test(`${name} on stdio: a process of its own`, async (t) => {
    const { StdioClientTransport } = await modulesOf(name, 'client/stdio');
    const { connected } = await clientsOf(name, t);
    const args = [fileURLToPath(new URL('former.mjs', import.meta.url)), name, keys];
    const process_ = () =>
      connected(
        new StdioClientTransport({ command: process.execPath, args, env: { ...compiled } }),
      );
    const { nextCursor: cursor } = await (await process_()).client.listResources();
    const { call, page } = await process_();
    assert.equal(await page(cursor), 'page 2');
    await assert.rejects(page(`${cursor}x`), refused(-32602));
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
    const { to } = await clientsOf(name, t);
    const { client, transport, call, page } = await to(
      await serving(t, guard.node(app.fetch)),
      'alice',
    );
    assert.match(transport.sessionId, /^sw1\./);
    assert.equal(await page((await client.listResources()).nextCursor), 'page 2');
    assert.equal((await call('negotiated')).clientInfo.name, 'former client');
  });
}
