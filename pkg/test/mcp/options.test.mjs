// The settings of a guard, of its sessions and of its ledger, and the servers that it protects.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler, InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { Guard, MemoryLedger } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { connected, LEGACY } from './client.mjs';
import { codec, factoryOf, guardOf, inTool, modern, requestOf } from './wire.mjs';

const info = { name: 'x', version: '1' };

test('who forgot to protect is told so, and nothing leaves', async () => {
  const guard = guardOf();
  const rows = guard.referenceHandles('row');
  for (const protect of [(server) => server, (server) => guardOf().protect(server)]) {
    const server = protect(new McpServer(info));
    server.registerTool('state', {}, (ctx) => ({ requestState: guard.state(ctx, 'secret') }));
    server.registerTool('mint', {}, (ctx) => rows.mint(ctx));
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    await server.connect(ours);
    const client = await connected(theirs, LEGACY);
    for (const tool of ['state', 'mint']) {
      const { result } = await client.call(tool, {});
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, /call guard\.protect\(server\)/);
    }
    await client.client.close();
  }
  assert.throws(() => guard.state({}, 'x'), { code: 'invalid_argument' });
});

test('what cannot be protected is refused at once, and logged: the SDK answers 500, and says nothing', async () => {
  const said = [];
  const guard = guardOf({ logger: { warn: (line) => said.push(line) } });
  const server = new McpServer(info);
  assert.equal(guard.protect(guard.protect(server)), server);
  const late = new McpServer(info);
  await late.connect(InMemoryTransport.createLinkedPair()[0]);
  for (const [none, message] of [
    ...[{}, null, undefined, 'server', { server: {} }].map((none) => [none, /McpServer/]),
    [guardOf().protect(new McpServer(info)), /no other guard protects/],
    [late, /before connect/],
  ]) {
    assert.throws(() => guard.protect(none), { code: 'invalid_argument', message });
  }
  said.length = 0;
  const factory = () => guard.protect(factoryOf({}, guardOf())());
  const response = await createMcpHandler(factory).fetch(requestOf(...modern(1, 'tools/list')));
  assert.equal(response.status, 500);
  assert.equal(said.length, 1);
  assert.match(said[0], /invalid_argument.*protect: server: expected one that no other guard/);
});

test('options are what they should be', () => {
  const good = { codec, principal: 'anonymous' };
  const guard = new Guard(good);
  for (const bad of [
    ...[{}, { codec }, { codec, principal: 'alice' }, { codec, principal: undefined }],
    { codec: { view() {} }, principal: 'anonymous' },
    ...[{ onrefused() {} }, { onRefused: 'log' }, { timeLimit: '1' }, { requestStateTtl: '1' }].map(
      (one) => ({ ...good, ...one }),
    ),
    ...[{ only: { delete_note: 'id' } }, { logger: {} }, { ledger: {} }].map((one) => ({
      ...{ ...good, ...one },
    })),
  ])
    assert.throws(() => new Guard(bad), TypeError, JSON.stringify(bad));
  for (const make of [
    () => guard.referenceHandles('row', { ttl: 1 }),
    () => guard.selfContainedHandles(7),
    () => guard.fetch(async () => {}, { required: 1 }),
    () => guard.fetch(async () => {}, { needed: true }),
    () => guard.fetch({ fetch() {} }),
    () => new MemoryLedger({ rooms: 1 }),
  ])
    assert.throws(make, TypeError, `${make}`);
  for (const [make, message] of [
    ...[0, Number.NaN, 61].map((timeLimit) => [() => new Guard({ ...good, timeLimit }), /./]),
    [() => guard.referenceHandles('No Type'), /handle type/],
    [() => guard.selfContainedHandles('sw1'), /handle type/],
    [() => guard.referenceHandles('row', { maxAge: 0 }), /^maxAge: /],
    [() => guard.selfContainedHandles('row', { ttl: 2 ** 32 }), /^ttl: /],
    [() => new Guard({ ...good, requestStateTtl: 0 }), /ttl: /],
    [() => guard.sessions({ initial: () => 0, ttl: 2 ** 32 }), /^ttl: /],
    [() => guard.fetch(async () => {}, { ttl: 0 }), /^ttl: /],
    [() => guard.fetch(async () => {}, { onLost: 'Serve' }), /onLost/],
    [() => guard.fetch(async () => {}, { idle: 60 }), /^idle: expected a guard with a ledger/],
    [() => sessionStreams(guard, { ttl: 0 }), /^ttl: /],
    [() => sessionStreams(guard, { idle: 60 }), /^idle: expected a guard with a ledger/],
    [() => new Guard({ ...good, ledgerOptions: {} }), /expected a ledger too/],
    [() => new MemoryLedger({ capacity: -1 }), /capacity/],
    // A text of the author's is well-formed, or refused before it becomes anything else.
    [() => guard.referenceHandles('x\ud800'), /lone surrogate/],
    [() => new Guard({ ...good, only: { 'x\ud800': ['id'] } }), /lone surrogate/],
    [() => new Guard({ ...good, only: { delete_note: ['x\ud800'] } }), /lone surrogate/],
  ])
    assert.throws(make, { code: 'invalid_argument', message }, `${make}`);
});

test('options of sessions are what they should be', () => {
  const initial = () => 0;
  for (const options of [
    ...[undefined, {}, { initial: 0 }, { initial, ttl: '1' }, { initial, timeToLive: 1 }],
    ...[['count'], { tools: 'count' }, { tool: ['count'] }].map((required) => ({
      ...{ initial, required },
    })),
  ])
    assert.throws(() => guardOf().sessions(options), TypeError, JSON.stringify(options));
  const guard = guardOf();
  for (const options of [
    ...[{ ttl: 0 }, { ttl: 1, noExpiry: true }, { heldByServer: true }].map((one) => ({
      ...{ initial, ...one },
    })),
    { ttl: 1, heldByServer: true },
    { initial, required: { methods: ['tools/list'] } },
  ]) {
    const expected = { code: 'invalid_argument' };
    assert.throws(() => guard.sessions(options), expected, JSON.stringify(options));
  }
  // What was refused is corrected.
  guard.sessions({ initial, ttl: 1 });
  assert.throws(() => guard.sessions({ initial }), /once, and before/);
});

test('to sign somebody out takes a ledger, and so does single use', async () => {
  await assert.rejects(guardOf().revoke({ subject: 'alice' }), /ledger: expected a guard that has/);
  const remembering = guardOf({ ledger: new MemoryLedger() });
  await assert.rejects(remembering.revoke({ subject: 'x\ud800' }), /lone surrogate/);
  const told = [];
  const guard = guardOf({ onRefused: ({ code, message }) => told.push(code, message) });
  const baskets = guard.selfContainedHandles('basket', { singleUse: true });
  await assert.rejects(inTool(guard, (ctx) => baskets.seal(ctx, 1)));
  const [code, message] = told;
  assert.equal(code, 'invalid_argument');
  assert.match(message, /single use: expected a guard with a ledger/);
});
