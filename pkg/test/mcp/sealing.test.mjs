// What is sealed is never read back to learn of it, and options are checked without sealing: so a
// lifetime of one second works on a slow machine too. Here every look at the clock takes two.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { Codec, Key } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { LEGACY } from './client.mjs';
import {
  codec,
  factoryOf,
  guardOf,
  messagesOf,
  modern,
  overHttp,
  overStdio,
  requestOf,
} from './wire.mjs';

const { now } = Date;
beforeEach(() => {
  let at = now();
  Date.now = () => {
    at += 2000;
    return at;
  };
});
afterEach(() => {
  Date.now = now;
});

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    ...{ protocolVersion: LEGACY, capabilities: {} },
    clientInfo: { name: 'wire', version: '1' },
  },
};

async function called(guard, handler) {
  const handlers = {
    'tools/call': (_, ctx) => handler(ctx).then((value) => ({ content: [], value })),
  };
  const { messages } = await overHttp(
    factoryOf(handlers, guard),
    ...modern(1, 'tools/call', { name: 'x', arguments: {} }),
  );
  return messages[0].result.value;
}

test('handles of one second are made, and tell their end', async () => {
  const guard = guardOf();
  const [rows, baskets] = [
    guard.referenceHandles('row', { maxAge: 1 }),
    guard.selfContainedHandles('basket', { ttl: 1, maxAge: 1 }),
  ];
  const row = await called(guard, (ctx) => rows.mint(ctx));
  assert.match(row.handle, /^row_/);
  assert.match(row.ulid, /^[0-9a-f]{32}$/);
  assert.match(row.expiresAt, /Z$/);

  const { first, next } = await called(guard, async (ctx) => {
    const first = await baskets.seal(ctx, ['a']);
    const next = await baskets.renew(ctx, first, ['a', 'b']);
    const told = ({ handle, value, expiresAt, opened }) => {
      const { generation, startedAt, issuedAt, tokenId } = opened;
      const end = opened.expiresAt;
      return { handle, value, expiresAt, generation, startedAt, issuedAt, end, tokenId };
    };
    return { first: told(first), next: told(next) };
  });
  assert.deepEqual([first.value, next.value], [['a'], ['a', 'b']]);
  assert.deepEqual([first.generation, next.generation], [0, 1]);
  assert.equal(next.startedAt, first.startedAt);
  assert.equal(next.end, next.issuedAt + 1);
  assert.equal(Date.parse(next.expiresAt), next.end * 1000);
  // It is what opening tells, where there is time enough for that.
  Date.now = () => next.issuedAt * 1000;
  const opened = codec.view({ anonymous: true }).handleState('basket').open(next.handle);
  for (const fact of ['generation', 'startedAt', 'issuedAt', 'tokenId']) {
    assert.equal(opened[fact], next[fact], fact);
  }
  assert.deepEqual(opened.json(), ['a', 'b']);
});

test('a session of one second that the server holds is made', async () => {
  const brief = new Codec({ keys: Key.generate().toText(), audience: 'a', sessionMaxAge: 1 });
  const guard = guardOf({ codec: brief });
  guard.sessions({ heldByServer: true });
  const { messages } = await overHttp(factoryOf({}, guard), ...modern(1, 'sessions/create'));
  const { sessionId, state, expiresAt } = messages[0].result.session;
  assert.equal(sessionId.length, 64);
  assert.equal(state, undefined);
  assert.match(expiresAt, /Z$/);
});

test('a session of one second begins, over HTTP and stdio', async () => {
  const guard = guardOf();
  const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
  const handler = guard.fetch(createMcpHandler(factory).fetch, { ttl: 1, sep1359: true });
  const response = await handler(requestOf(initialize));
  assert.match(response.headers.get('mcp-session-id'), /^sw1\./);
  const [{ result }] = messagesOf(await response.text());
  assert.equal(result.sessionTimeout, 1);
  assert.equal(result.sessionId, response.headers.get('mcp-session-id'));

  const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout, ttl: 1 });
  const line = await overStdio(factory, { streams });
  line.send(initialize);
  const begun = await line.came.first(({ id }) => id === 1);
  assert.match(begun.result.sessionId, /^sw1\./);
  assert.equal(begun.result.sessionTimeout, 1);
  await line.close();
});

test('options are checked by name, and without sealing anything', () => {
  codec.view = () => assert.fail('an option is checked by trial');
  try {
    const guard = guardOf({ requestStateTtl: 1 });
    guard.referenceHandles('row', { maxAge: 1 });
    guard.selfContainedHandles('basket', { ttl: 1 });
    guard.sessions({ initial: () => 0, ttl: 1 });
    for (const [act, name] of [
      [() => guard.referenceHandles('No Type'), /handle type/],
      [() => guard.referenceHandles('row', { maxAge: 0 }), /^maxAge: /],
      [() => guard.selfContainedHandles('basket', { ttl: 0 }), /^ttl: /],
      [() => guard.selfContainedHandles('basket', { ttl: 2 ** 32 }), /^ttl: /],
      [() => guardOf({ requestStateTtl: 2 ** 32 }), /ttl: /],
      [() => guardOf().sessions({ initial: () => 0, ttl: 2 ** 32 }), /^ttl: /],
      [() => guard.fetch(async () => new Response(), { ttl: 0 }), /^ttl: /],
      [() => sessionStreams(guard, { ttl: 0 }), /^ttl: /],
    ]) {
      assert.throws(act, { code: 'invalid_argument', message: name });
    }
  } finally {
    delete codec.view;
  }
});
