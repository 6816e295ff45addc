// The settings of a guard, of its sessions and of its ledger, and the servers that it protects.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler, InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { Codec, Key } from 'sealwax';
import { Guard, MemoryLedger } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { connected, LEGACY } from './client.mjs';
import { factoryOf, guardOf, modern, overHttp, requestOf, text } from './wire.mjs';

const codec = new Codec({ keys: Key.generate(), audience: 'https://mcp.example.com' });

test('who forgot to protect is told so, and nothing leaves', async () => {
  const guard = new Guard({ codec, principal: 'anonymous' });
  const other = new Guard({ codec, principal: 'anonymous' });
  for (const protect of [(server) => server, (server) => other.protect(server)]) {
    const server = protect(new McpServer({ name: 'x', version: '1' }));
    const rows = guard.referenceHandles('row');
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

test('what cannot be protected is refused at once', async () => {
  const guard = new Guard({ codec, principal: 'anonymous' });
  const info = { name: 'x', version: '1' };
  for (const none of [{}, null, undefined, 'server', { server: {} }]) {
    assert.throws(() => guard.protect(none), { code: 'invalid_argument' });
  }
  const server = new McpServer(info);
  assert.equal(guard.protect(guard.protect(server)), server);
  const other = new Guard({ codec, principal: 'anonymous' });
  assert.throws(() => other.protect(server), /no other guard protects/);
  const late = new McpServer(info);
  await late.connect(InMemoryTransport.createLinkedPair()[0]);
  assert.throws(() => guard.protect(late), /before connect/);
});

test('options are what they should be', () => {
  const good = { codec, principal: 'anonymous' };
  const bad = [
    {},
    { codec },
    { codec, principal: 'alice' },
    { codec, principal: undefined },
    { codec: { view() {} }, principal: 'anonymous' },
    { ...good, onrefused() {} },
    { ...good, onRefused: 'log' },
    { ...good, timeLimit: '1' },
    { ...good, requestStateTtl: '1' },
    { ...good, only: { delete_note: 'id' } },
    { ...good, logger: {} },
  ];
  for (const options of bad) assert.throws(() => new Guard(options), TypeError);
  for (const timeLimit of [0, -1, Number.NaN, 61, Number.POSITIVE_INFINITY]) {
    assert.throws(() => new Guard({ ...good, timeLimit }), { code: 'invalid_argument' });
  }
  const guard = new Guard(good);
  assert.throws(() => guard.referenceHandles('row', { ttl: 1 }), TypeError);
  assert.throws(() => guard.selfContainedHandles(7), TypeError);
  for (const [make, message] of [
    [() => guard.referenceHandles('No Type'), /handle type/],
    [() => guard.selfContainedHandles('sw1'), /handle type/],
    [() => guard.referenceHandles('row', { maxAge: 0 }), /^maxAge: /],
    [() => guard.selfContainedHandles('row', { ttl: 2 ** 32 }), /^ttl: /],
    [() => new Guard({ ...good, requestStateTtl: 0 }), /ttl: /],
    [() => guard.sessions({ initial: () => 0, ttl: 2 ** 32 }), /^ttl: /],
    [() => guard.fetch(async () => {}, { ttl: 0 }), /^ttl: /],
    [() => guard.fetch(async () => {}, { onLost: 'Serve' }), /onLost/],
    [() => sessionStreams(guard, { ttl: 0 }), /^ttl: /],
    [() => new MemoryLedger({ capacity: -1 }), /capacity/],
  ]) {
    assert.throws(make, { code: 'invalid_argument', message });
  }
  for (const given of [{ required: 1 }, { ttl: '1' }, { needed: true }])
    assert.throws(() => guard.fetch(async () => {}, given), TypeError);
  assert.throws(() => guard.fetch({ fetch() {} }), TypeError);
  assert.throws(() => new MemoryLedger({ rooms: 1 }), TypeError);
});

test("an author's text is well-formed, or refused before it becomes anything else", async () => {
  const lone = 'x\ud800';
  const guard = guardOf({ ledger: new MemoryLedger() });
  for (const act of [
    () => guard.referenceHandles(lone),
    () => guard.selfContainedHandles(lone),
    () => guardOf({ only: { [lone]: ['id'] } }),
    () => guardOf({ only: { delete_note: [lone] } }),
    () => guard.revoke({ subject: lone }),
  ]) {
    const refused = { code: 'invalid_argument', message: /lone surrogate/ };
    await assert.rejects(async () => act(), refused);
  }
});

test('options of sessions are what they should be', () => {
  const guard = () => new Guard({ codec, principal: 'anonymous' });
  const initial = () => 0;
  for (const options of [
    undefined,
    {},
    { initial: 0 },
    { initial, ttl: '1' },
    { initial, required: ['count'] },
    { initial, required: { tools: 'count' } },
    { initial, required: { tool: ['count'] } },
    { initial, timeToLive: 1 },
  ]) {
    assert.throws(() => guard().sessions(options), TypeError, JSON.stringify(options));
  }
  for (const options of [
    { initial, ttl: 0 },
    { initial, ttl: 1, noExpiry: true },
    { initial, heldByServer: true },
    { ttl: 1, heldByServer: true },
    { initial, required: { methods: ['tools/list'] } },
    { initial, required: { methods: ['initialize'] } },
  ]) {
    const expected = { code: 'invalid_argument' };
    assert.throws(() => guard().sessions(options), expected, JSON.stringify(options));
  }
  const corrected = guard();
  assert.throws(() => corrected.sessions({ initial, ttl: 1, noExpiry: true }));
  corrected.sessions({ initial, ttl: 1 });
  const twice = guard();
  twice.sessions({ initial });
  assert.throws(() => twice.sessions({ initial }), /once, and before/);
});

test('an idle time takes a ledger, and so does single use', async () => {
  const guard = guardOf();
  const idle = { code: 'invalid_argument', message: /^idle: expected a guard with a ledger/ };
  assert.throws(() => guard.fetch(() => {}, { idle: 60 }), idle);
  assert.throws(() => sessionStreams(guard, { idle: 60 }), idle);
  assert.throws(() => guardOf({ ledgerOptions: {} }), /expected a ledger too/);
  assert.throws(() => guardOf({ ledger: {} }), TypeError);
  await assert.rejects(guard.revoke({ subject: 'alice' }), /ledger: expected a guard that has one/);
  const told = [];
  const single = guardOf({ onRefused: ({ code, message }) => told.push(code, message) });
  const baskets = single.selfContainedHandles('basket', { singleUse: true });
  const handler = async (_, ctx) => text((await baskets.seal(ctx, 1)).handle);
  const sent = modern(1, 'tools/call', { name: 'x', arguments: {} });
  await overHttp(factoryOf({ 'tools/call': handler }, single), ...sent);
  const [code, message] = told;
  assert.equal(code, 'invalid_argument');
  assert.match(message, /single use: expected a guard with a ledger/);
});

test('a factory whose server cannot be protected is logged: the SDK answers 500, and says nothing', async () => {
  const said = [];
  const guard = guardOf({ logger: { warn: (line) => said.push(line) } });
  const factory = () => guard.protect(factoryOf({}, guardOf())());
  const response = await createMcpHandler(factory).fetch(requestOf(...modern(1, 'tools/list')));
  assert.equal(response.status, 500);
  assert.equal(said.length, 1);
  assert.match(said[0], /invalid_argument.*protect: server: expected one that no other guard/);
});
