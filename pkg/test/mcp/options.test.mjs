// The settings of a guard, of its sessions, its handles and its ledger, and the servers that it protects: a mistake shows at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler, InMemoryTransport, McpServer } from '@modelcontextprotocol/server';
import { Guard, HandleRefused, MemoryLedger } from 'sealwax/mcp';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { called, codec, factoryOf, guardOf, inTool, modern, requestOf, telling } from './wire.mjs';

const info = { name: 'x', version: '1' };

test('who forgot to protect is told so, and nothing leaves', async () => {
  const guard = guardOf();
  const rows = guard.referenceHandles('row');
  for (const other of [undefined, guardOf()]) {
    for (const act of [
      (ctx) => ({ requestState: guard.state(ctx, 'secret') }),
      (ctx) => rows.mint(ctx),
    ]) {
      const { error } = await called(factoryOf({ 'tools/call': (_, ctx) => act(ctx) }, other));
      assert.match(error.message, /call guard\.protect\(server\)/);
    }
  }
  for (const act of [() => guard.state({}, 'x'), () => guard.verify('{"forged":true}', {})])
    assert.throws(act, { code: 'invalid_argument' });
});

test('what cannot be protected is refused at once, and logged: the SDK answers 500, and says nothing', async () => {
  const { guard, lines } = telling();
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
  lines.length = 0;
  const factory = () => guard.protect(factoryOf({}, guardOf())());
  const response = await createMcpHandler(factory).fetch(requestOf(...modern(1, 'tools/list')));
  assert.equal(response.status, 500);
  assert.equal(lines.length, 1);
  assert.match(lines[0], /invalid_argument.*protect: server: expected one that no other guard/);
});

const made = (options) => () => new Guard({ codec, principal: 'anonymous', ...options });
const guard = made()();
const initial = () => 0;
const sessions = (options) => () => guardOf().sessions(options);
const wraps = (options) => () => guard.fetch(async () => {}, options);

test('what is of the wrong type, or misspelt, is a TypeError', async () => {
  for (const act of [
    ...[{ codec: undefined }, { codec: { view() {} } }, { principal: 'alice' }].map(made),
    ...[{ principal: undefined }, { onrefused() {} }, { onRefused: 'log' }].map(made),
    ...[{ timeLimit: '1' }, { requestStateTtl: '1' }, { only: { delete_note: 'id' } }].map(made),
    ...[{ logger: {} }, { ledger: {} }].map(made),
    () => guard.referenceHandles('row', { ttl: 1 }),
    () => guard.selfContainedHandles(7),
    () => guard.links('report', { single: true }),
    ...[{ required: 1 }, { needed: true }].map(wraps),
    () => guard.fetch({ fetch() {} }),
    () => new MemoryLedger({ rooms: 1 }),
    ...[undefined, {}, { initial: 0 }, { initial, ttl: '1' }].map(sessions),
    ...[
      { initial, timeToLive: 1 },
      { initial, required: ['count'] },
    ].map(sessions),
    ...[{ tools: 'count' }, { tool: ['count'] }].map((required) => sessions({ initial, required })),
    ...[['delete_note', 7], ['delete_note'], [7, 'Delete?']].map((given) => () => {
      guardOf().confirm(...given);
    }),
  ])
    assert.throws(act, TypeError, `${act}`);
  for (const [given, error] of [
    [-1, /whole number/],
    [1.5, /whole number/],
    [2 ** 32, /whole number/],
    [Number.NaN, /whole number/],
    ...['7', 7n, undefined].map((given) => [given, TypeError]),
  ]) {
    await assert.rejects(
      inTool(guard, (ctx) => guard.referenceHandles('row').mintShort(ctx, given)),
      error,
    );
  }
});

test('what a guard cannot do is an error of its option', async () => {
  const protecting = guardOf();
  factoryOf({}, protecting)();
  const confirms = (question, options, given) => () =>
    guardOf(given).confirm('delete_note', question, options);
  for (const [act, message] of [
    ...[0, Number.NaN, 61].map((timeLimit) => [made({ timeLimit }), /./]),
    ...['No Type', 'sw1'].map((type) => [() => guard.selfContainedHandles(type), /handle type/]),
    [() => guard.referenceHandles('row', { maxAge: 0 }), /^maxAge: /],
    [() => guard.selfContainedHandles('row', { ttl: 2 ** 32 }), /^ttl: /],
    [() => guard.links('a report'), /handle type/],
    [() => guard.links('report', { ttl: 0 }), /^ttl: /],
    [made({ requestStateTtl: 0 }), /ttl: /],
    [made({ ledgerOptions: {} }), /expected a ledger too/],
    [wraps({ ttl: 0 }), /^ttl: /],
    [wraps({ onLost: 'Serve' }), /onLost/],
    [wraps({ idle: 60 }), /^idle: expected a guard with a ledger/],
    [() => sessionStreams(guard, { ttl: 0 }), /^ttl: /],
    [() => sessionStreams(guard, { idle: 60 }), /^idle: expected a guard with a ledger/],
    [() => new MemoryLedger({ capacity: -1 }), /capacity/],
    // A text of the author's is well-formed, or refused before it becomes anything else.
    [() => guard.referenceHandles('x\ud800'), /lone surrogate/],
    [made({ only: { 'x\ud800': ['id'] } }), /lone surrogate/],
    [made({ only: { delete_note: ['x\ud800'] } }), /lone surrogate/],
    ...[{ ttl: 0 }, { ttl: 2 ** 32 }, { ttl: 1, noExpiry: true }, { heldByServer: true }].map(
      (one) => [sessions({ initial, ...one }), /./],
    ),
    [sessions({ ttl: 1, heldByServer: true }), /./],
    [sessions({ initial, required: { methods: ['tools/list'] } }), /./],
    [confirms('Delete {'), /./],
    [confirms('Delete {name}?', {}, { only: { delete_note: ['id'] } }), /which may change after/],
    [confirms('Delete?', { fallback: 'model' }), /refuse or preview/],
    [() => guardOf().confirmDestructive({ fallback: 'model' }), /refuse or preview/],
    [() => protecting.confirm('delete_note', 'Delete?'), /before guard.protect/],
    [() => protecting.confirmDestructive(), /before guard.protect/],
  ])
    assert.throws(act, { code: 'invalid_argument', message }, `${act}`);
  await assert.rejects(guard.cursor({}, 1), { code: 'invalid_argument' });
  const cyclic = {};
  cyclic.own = cyclic;
  const sealing = inTool(guard, (ctx) => guard.links('report').seal(ctx, cyclic));
  await assert.rejects(sealing, HandleRefused);
});

test('sessions that were refused are corrected, once', () => {
  const correcting = guardOf();
  assert.throws(() => correcting.sessions({ initial, ttl: 0 }));
  correcting.sessions({ initial, ttl: 1 });
  assert.throws(() => correcting.sessions({ initial }), /once, and before/);
});

test('to sign somebody out takes a ledger, and so does single use', async () => {
  await assert.rejects(guardOf().revoke({ subject: 'alice' }), /ledger: expected a guard that has/);
  const remembering = guardOf({ ledger: new MemoryLedger() });
  await assert.rejects(remembering.revoke({ subject: 'x\ud800' }), /lone surrogate/);
  const { guard, events } = telling();
  const baskets = guard.selfContainedHandles('basket', { singleUse: true });
  await assert.rejects(inTool(guard, (ctx) => baskets.seal(ctx, 1)));
  const [{ code, message }] = events;
  assert.equal(code, 'invalid_argument');
  assert.match(message, /single use: expected a guard with a ledger/);
});
