// What a guard hands on as it came: options, limits, what is asked, and the bytes of a message.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { anonymous, answer } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { TestClock, testCodec, testLedger } from 'sealwax/testing';
import { LEGACY } from './client.mjs';
import {
  called,
  codec,
  factoryOf,
  guardOf,
  initialize,
  inMemory,
  inTool,
  messagesOf,
  modern,
  overHttp,
  overStdio,
  requestOf,
  text,
  within,
} from './wire.mjs';

test('a handle tells what it is, and until when', async () => {
  const clock = new TestClock();
  const guard = guardOf({ codec: testCodec(clock), principal: () => ({ subject: 'alice' }) });
  const rows = guard.referenceHandles('row', { maxAge: 60 });
  const baskets = guard.selfContainedHandles('basket', { ttl: 60, maxAge: 65 });
  await inTool(guard, async (ctx) => {
    const [row, first] = [await rows.mint(ctx), await baskets.seal(ctx, ['a'])];
    assert.match(Object.values(row).join(' '), /^row_\S+ [0-9a-f]{32} [\d-]+T[\d:]+Z$/);
    clock.advance(10);
    const next = await baskets.renew(ctx, first, ['a', 'b']);
    assert.deepEqual({ ...(await baskets.open(ctx, next.handle)) }, { ...next });
    const { startedAt, issuedAt, expiresAt } = next.opened;
    assert.deepEqual(
      [startedAt, issuedAt - startedAt, expiresAt - issuedAt],
      [first.opened.startedAt, 10, 60],
    );
    assert.equal(Date.parse(next.expiresAt), expiresAt * 1000);
    clock.advance(55);
    await assert.rejects(baskets.open(ctx, next.handle), { name: 'HandleRefused' });
  });
});

test('a refused handle is the error of a prompt', async () => {
  const guard = guardOf();
  const check = (_, ctx) => guard.referenceHandles('row').check(ctx, 'x');
  const factory = factoryOf({ 'prompts/get': check }, guard);
  const { messages } = await overHttp(factory, ...modern(1, 'prompts/get', { name: 'x' }));
  const [{ text: message }] = answer('handle').toolResult.content;
  assert.deepEqual(messages[0].error, { code: -32602, message });
});

test('the first value of a session is by the parameters of its request', async () => {
  const guard = guardOf();
  const sessions = guard.sessions({ initial: ({ params }) => params.from });
  const factory = factoryOf({ 'tools/call': (_, ctx) => text(`${sessions.of(ctx).value}`) }, guard);
  const { messages } = await overHttp(factory, ...modern(1, 'sessions/create', { from: 40 }));
  const session = within(messages[0].result.session);
  assert.equal((await called(factory, session)).result.content[0].text, '40');
});

test('stdio: the id of a session is that of its token', async () => {
  const guard = guardOf();
  const factory = factoryOf({ 'tools/call': (_, ctx) => text(`${guard.sessionId(ctx)}`) }, guard);
  const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout });
  const { came, send, close } = await overStdio(factory, { streams, era: LEGACY });
  const { sessionId } = came.messages[0].result;
  send({ id: 7, method: 'tools/call', params: { name: 'x', arguments: {} }, sessionId });
  const { result } = await came.first(({ id }) => id === 7);
  assert.equal(result.content[0].text, codec.view(anonymous).session().open(sessionId).tokenId);
  await close();
});

test('what a session of the transport took of the time limit is not there for its message', async () => {
  const clock = new TestClock();
  const [codec, memory, alice] = [testCodec(clock), testLedger(clock), { subject: 'alice' }];
  const asked = [];
  const ledger = {
    run(command) {
      asked.push([command.script, command.withinMs]);
      const reply = memory.run(command);
      clock.advance(command.withinMs / 1000);
      if (asked.length === 2) throw new Error('the answer is lost');
      return reply;
    },
  };
  const guard = guardOf({ codec, ledger, principal: () => alice, timeLimit: 60 });
  // What was made before the ledger is refused.
  clock.advance(60);
  const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
  const served = (by) => by.fetch(createMcpHandler(factory).fetch);
  const handler = served(guard);
  // By another replica, so that this one has not asked its ledger yet.
  const first = await served(guardOf({ codec, principal: () => alice }))(requestOf(initialize));
  const begun = first.headers.get('mcp-session-id');
  const headers = { 'mcp-session-id': begun, 'mcp-protocol-version': LEGACY };
  const cursor = codec.view(alice).cursor('tools/list').seal(new TextEncoder().encode('page 2'));
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor } };
  const [{ result }] = messagesOf(await (await handler(requestOf(list, headers))).text());
  assert.deepEqual(result?.tools, []);
  // A command has three tenths of the time limit, or what is left.
  assert.deepEqual(asked, [
    ['open', 18_000],
    ['admit', 18_000],
    ['admit', 18_000],
    ['admit', 6000],
  ]);
});

test('HTTP: a character may come in several pieces', async () => {
  const handler = guardOf().fetch(async (_, { parsedBody }) => Response.json(parsedBody));
  const [message, headers] = modern(1, 'tools/call', { name: 'x', said: 'é, 語, 🔑' });
  const bytes = Array.from(Buffer.from(JSON.stringify(message)), (one) => Uint8Array.of(one));
  const whole = requestOf({}, headers);
  const request = new Request(whole, { body: ReadableStream.from(bytes), duplex: 'half' });
  assert.equal((await (await handler(request)).json()).params.said, 'é, 語, 🔑');
});

test('an event with a session is not held back until its stream ends', async () => {
  let stream;
  const handler = guardOf().fetch(
    async (_, { parsedBody: { id, method } }) => {
      if (method === 'initialize')
        return Response.json({ jsonrpc: '2.0', id, result: { protocolVersion: LEGACY } });
      const start = (given) => {
        stream = given;
      };
      const headers = { 'content-type': 'text/event-stream' };
      return new Response(new ReadableStream({ start }), { headers });
    },
    { sep1359: true },
  );
  const { sessionId } = (await (await handler(requestOf(initialize))).json()).result;
  const asked = { jsonrpc: '2.0', id: 1, method: 'tools/list', sessionId };
  const reader = (await handler(requestOf(asked))).body.getReader();
  stream.enqueue(new TextEncoder().encode('data: {"jsonrpc":"2.0","method":"x"}\r\r'));
  const { value } = await reader.read();
  assert.match(new TextDecoder().decode(value), /^data: \{.*"sessionId":"sw1\..*\}\r\r$/);
  await reader.cancel();
});

test('parameters that are null are for the SDK to judge', async () => {
  const heard = [];
  for (const guard of [undefined, guardOf()]) {
    const { answers, send, server } = await inMemory(guard, {});
    const errors = [];
    server.onerror = ({ message }) => errors.push(message);
    await send({ id: 1, method: 'ping', params: null });
    await new Promise(setImmediate);
    heard.push({ answers, errors });
  }
  assert.deepEqual(heard[1], heard[0]);
});
