// What a guard hands on as it came: options, limits, what is asked, and the bytes of a message.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { anonymous, answer } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { TestClock, testCodec, testLedger } from 'sealwax/testing';
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
  text,
} from './wire.mjs';

const call = (more) => modern(1, 'tools/call', { name: 'x', arguments: {}, ...more });
const initialize = {
  ...{ jsonrpc: '2.0', id: 0, method: 'initialize' },
  params: {
    ...{ protocolVersion: LEGACY, capabilities: {} },
    clientInfo: { name: 'wire', version: '1' },
  },
};

test('a self-contained handle ends by the maximum age of its type', async () => {
  const clock = new TestClock();
  const guard = guardOf({ codec: testCodec(clock) });
  const baskets = guard.selfContainedHandles('basket', { maxAge: 60 });
  const outcomes = [];
  const handler = async (_, ctx) => {
    const { handle } = await baskets.seal(ctx, 1);
    for (const seconds of [59, 1]) {
      clock.advance(seconds);
      const opened = baskets.open(ctx, handle);
      outcomes.push(await opened.then(({ value }) => value).catch(({ name }) => name));
    }
    return text('done');
  };
  await overHttp(factoryOf({ 'tools/call': handler }, guard), ...call());
  assert.deepEqual(outcomes, [1, 'HandleRefused']);
});

test('a handle tells what it is, and until when', async () => {
  const clock = new TestClock();
  const guard = guardOf({ codec: testCodec(clock) });
  const [rows, baskets] = [
    guard.referenceHandles('row', { maxAge: 60 }),
    guard.selfContainedHandles('basket', { ttl: 60 }),
  ];
  let told;
  const handler = async (_, ctx) => {
    const [row, first] = [await rows.mint(ctx), await baskets.seal(ctx, ['a'])];
    clock.advance(10);
    const next = await baskets.renew(ctx, first, ['a', 'b']);
    told = { row, first, next, again: await baskets.open(ctx, next.handle) };
    return text('done');
  };
  await overHttp(factoryOf({ 'tools/call': handler }, guard), ...call());
  const { row, first, next, again } = told;
  assert.match(row.handle, /^row_/);
  assert.match(row.ulid, /^[0-9a-f]{32}$/);
  assert.match(row.expiresAt, /Z$/);
  assert.deepEqual([first.value, next.value, again.value], [['a'], ['a', 'b'], ['a', 'b']]);
  const { startedAt, issuedAt, expiresAt } = next.opened;
  assert.deepEqual(
    [startedAt, issuedAt - startedAt, expiresAt - issuedAt],
    [first.opened.startedAt, 10, 60],
  );
  assert.equal(Date.parse(next.expiresAt), expiresAt * 1000);
  for (const fact of ['generation', 'startedAt', 'issuedAt', 'expiresAt', 'tokenId'])
    assert.equal(next.opened[fact], again.opened[fact], fact);
});

test('the first value of a session is by the parameters of its request', async () => {
  const guard = guardOf();
  const sessions = guard.sessions({ initial: ({ params }) => params.from ?? 0 });
  const factory = factoryOf({ 'tools/call': (_, ctx) => text(`${sessions.of(ctx).value}`) }, guard);
  for (const [params, first] of [
    [{ from: 40 }, '40'],
    [{}, '0'],
  ]) {
    const created = await overHttp(factory, ...modern(1, 'sessions/create', params));
    const { sessionId, state } = created.messages[0].result.session;
    const _meta = { 'io.modelcontextprotocol/session': { sessionId, state } };
    const { messages } = await overHttp(factory, ...call({ _meta }));
    assert.equal(messages[0].result.content[0].text, first);
  }
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
  const handler = guard.fetch(createMcpHandler(factory).fetch);
  const clientInfo = { name: 'wire', version: '1' };
  const capabilities = { clientCapabilities: {}, serverCapabilities: {} };
  const negotiated = { protocolVersion: LEGACY, ...capabilities, clientInfo };
  const headers = {
    'mcp-session-id': codec.view(alice).session().sealJson(negotiated),
    'mcp-protocol-version': LEGACY,
  };
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

test('a refused handle is the fixed result of a tool that throws it, and elsewhere an error', async () => {
  const guard = guardOf();
  const rows = guard.referenceHandles('row');
  const factory = () => {
    const server = guard.protect(new McpServer({ name: 'x', version: '1' }));
    const check = async (ctx) => text((await rows.check(ctx, 'x')).ulid);
    server.registerTool('x', {}, check);
    server.registerPrompt('x', {}, check);
    return server;
  };
  const { messages } = await overHttp(factory, ...call());
  const { content, isError } = messages[0].result;
  assert.deepEqual({ content, isError }, answer('handle').toolResult);
  const [{ error }] = (await overHttp(factory, ...modern(1, 'prompts/get', { name: 'x' })))
    .messages;
  assert.deepEqual(error, { code: -32602, message: content[0].text });
});

test("what an author's function threw goes to the author's hook, and nowhere else", async () => {
  const thrown = new Error('of a secret');
  const throwing = () => {
    throw thrown;
  };
  for (const [principal, initial, sent] of [
    [throwing, undefined, call()],
    [async () => throwing(), undefined, call()],
    [() => ({ subject: 'alice' }), throwing, modern(1, 'sessions/create')],
  ]) {
    const [lines, told] = [[], []];
    const logger = { warn: (...all) => lines.push(JSON.stringify(all)) };
    const guard = guardOf({ principal, logger, onRefused: ({ cause }) => told.push(cause) });
    if (initial) guard.sessions({ initial });
    const factory = factoryOf({ 'tools/call': () => text('ran') }, guard);
    const { messages } = await overHttp(factory, ...sent);
    assert.deepEqual(messages[0].error, { code: -32603, message: 'Internal error' });
    assert.equal(lines.length, 1);
    assert.ok(!lines[0].includes('secret'));
    assert.deepEqual(told, [thrown]);
  }
});

/** Bytes, each in a chunk of its own. */
const bytes = (of) => Array.from(new TextEncoder().encode(JSON.stringify(of)), (one) => [one]);

test('HTTP: a character may come in several pieces', async () => {
  const guard = guardOf();
  const handler = guard.fetch(async (_, { parsedBody }) =>
    Response.json({ jsonrpc: '2.0', id: 1, result: { said: parsedBody.params.said } }),
  );
  const [message, headers] = call({ said: 'é, 語, 🔑' });
  const body = ReadableStream.from(bytes(message).map((one) => Uint8Array.from(one)));
  const request = new Request(requestOf({}, headers), { body, duplex: 'half' });
  assert.equal((await (await handler(request)).json()).result.said, 'é, 語, 🔑');
});

test('stdio: a character may come in several pieces, either way', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const [inward, outward] = sessionStreams(guardOf(), { stdin, stdout });
  const message = { jsonrpc: '2.0', method: 'notifications/said', params: { said: 'é, 語, 🔑' } };
  const pieces = [...bytes(message), [0x0a]];
  for (const [to, from] of [
    [stdin, inward],
    [outward, stdout],
  ]) {
    for (const one of pieces) to.write(Buffer.from(one));
    const [came] = await once(from, 'data');
    assert.deepEqual(JSON.parse(came), message);
  }
});

test('an answer that became longer does not say how long it was', async () => {
  const result = { protocolVersion: LEGACY, capabilities: {} };
  const said = JSON.stringify({ jsonrpc: '2.0', id: 0, result });
  const headers = { 'content-type': 'application/json', 'content-length': `${said.length}` };
  const handler = guardOf().fetch(async () => new Response(said, { headers }), { sep1359: true });
  const response = await handler(requestOf(initialize));
  assert.equal(response.headers.get('content-length'), null);
  assert.match((await response.json()).result.sessionId, /^sw1\./);
});

test('an event with a session is not held back until its stream ends', async () => {
  let stream;
  const handler = guardOf().fetch(
    async (_, { parsedBody }) => {
      if (parsedBody.method === 'initialize')
        return Response.json({ jsonrpc: '2.0', id: 0, result: { protocolVersion: LEGACY } });
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

test('a short handle gives its number back, and takes no number that it would round', async () => {
  const guard = guardOf({ principal: () => ({ subject: 'alice' }) });
  const rows = guard.referenceHandles('row');
  const handler = async (_, ctx) => {
    for (const number of [0, 7, 2 ** 32 - 1]) {
      const handle = await rows.mintShort(ctx, number);
      assert.match(handle, new RegExp(`^row_${number}_`));
      assert.equal(await rows.checkShort(ctx, handle), number);
    }
    const message = /number: expected a (whole )?number/;
    for (const number of [-1, 1.5, 2 ** 32, Number.NaN, '7', 7n, undefined])
      await assert.rejects(rows.mintShort(ctx, number), { message });
    return text('done');
  };
  const { messages } = await overHttp(factoryOf({ 'tools/call': handler }, guard), ...call());
  assert.equal(messages[0].result?.content[0].text, 'done');
});

test('the id of a session is there before anybody asks for the session', async () => {
  const guard = guardOf();
  const sessions = guard.sessions({ initial: () => 0 });
  const handler = (_, ctx) => text(`${guard.sessionId(ctx) === sessions.of(ctx).ulid}`);
  const factory = factoryOf({ 'tools/call': handler }, guard);
  const created = await overHttp(factory, ...modern(1, 'sessions/create'));
  const { sessionId, state } = created.messages[0].result.session;
  const _meta = { 'io.modelcontextprotocol/session': { sessionId, state } };
  const { messages } = await overHttp(factory, ...call({ _meta }));
  assert.equal(messages[0].result.content[0].text, 'true');
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

test("what an author's value threw goes to the author's hook", async () => {
  const thrown = new TypeError('of the author');
  const toJSON = () => {
    throw thrown;
  };
  const told = [];
  const guard = guardOf({ onRefused: ({ cause }) => told.push(cause) });
  const baskets = guard.selfContainedHandles('basket');
  const factory = factoryOf(
    { 'tools/call': async (_, ctx) => text((await baskets.seal(ctx, { toJSON })).handle) },
    guard,
  );
  await overHttp(factory, ...call());
  assert.deepEqual(told, [thrown]);
});
