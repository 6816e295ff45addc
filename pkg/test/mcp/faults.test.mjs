// Whose fault it is, and what is told: a request that cannot be bound, a state in the wrong place, an anonymous guard.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { LEGACY } from './client.mjs';
import {
  factoryOf,
  guardOf,
  messagesOf,
  modern,
  overHttp,
  overStdio,
  requestOf,
  text,
} from './wire.mjs';

test('arguments that cannot be bound refuse a state alone; the model hears of it, and the log says whose', async () => {
  let ran = 0;
  const [events, lines] = [[], []];
  const guard = guardOf({
    principal: () => ({ subject: 'alice' }),
    onRefused: (event) => events.push(event),
    logger: { warn: (line) => lines.push(line) },
  });
  const factory = factoryOf(
    {
      'tools/call': () => {
        ran += 1;
        return text('ran');
      },
    },
    guard,
  );
  // JSON.stringify would write the infinite as null.
  for (const [unsafe, expected] of [
    [
      `${2 ** 60}`,
      /^Invalid arguments\. argument "id": expected numbers .* pass a larger one as a string/,
    ],
    ...['1e400', '-1e400', '[{"a":1e400}]'].map((of) => [
      of,
      /^Invalid arguments\. argument "id": expected/,
    ]),
  ]) {
    const call = async (more) => {
      const sent = { name: 'transfer', arguments: { id: '?' }, ...more };
      const [message, headers] = modern(1, 'tools/call', sent);
      const body = JSON.stringify(message).replace('"?"', unsafe);
      return (await overHttp(factory, body, headers)).messages[0].result;
    };
    assert.equal((await call()).content[0].text, 'ran');
    assert.deepEqual([events, lines], [[], []]);
    const { isError, content } = await call({ requestState: 'x' });
    assert.ok(isError);
    assert.match(content[0].text, expected);
    const { code, kind, method, target, principal } = events.pop();
    assert.deepEqual(
      { code, kind, method, target, principal },
      {
        ...{ code: 'invalid_request', kind: 'request-state', method: 'tools/call' },
        ...{ target: 'transfer', principal: { subject: 'alice' } },
      },
    );
    const told =
      /^sealwax: invalid_request kind=request-state method="tools\/call" target="transfer" /;
    assert.match(lines.pop(), told);
  }
  assert.equal(ran, 4);
});

test('what an author gets for a state is sealed, wherever it is put', async () => {
  const guard = guardOf();
  const leaks = {
    content: (state) => text(state),
    meta: (state) => ({ ...text('x'), _meta: { state } }),
    structured: (state) => ({ ...text('x'), structuredContent: { state } }),
    'no result type': (state) => ({ ...text('x'), requestState: state }),
  };
  const factory = factoryOf(
    {
      'tools/call': ({ params }, ctx) =>
        leaks[params.name](guard.state(ctx, { secret: 'plaintext' })),
    },
    guard,
  );
  for (const name of Object.keys(leaks)) {
    const { messages } = await overHttp(factory, ...modern(1, 'tools/call', { name }));
    assert.doesNotMatch(JSON.stringify(messages), /plaintext/, name);
    assert.equal(messages[0].error?.code, name === 'no result type' ? -32603 : undefined, name);
  }
});

test('an anonymous guard beside a signed-in user is warned of, once', async () => {
  for (const principal of ['anonymous', () => anonymous]) {
    const lines = [];
    const guard = guardOf({ principal, logger: { warn: (line) => lines.push(line) } });
    const { fetch } = createMcpHandler(factoryOf({ 'tools/call': () => text('x') }, guard));
    const call = () => requestOf(...modern(1, 'tools/call', { name: 'x', arguments: {} }));
    await (await fetch(call())).text();
    assert.deepEqual(lines, []);
    const authInfo = { token: 't', clientId: 'app', scopes: [] };
    for (const _ of [1, 2]) await (await fetch(call(), { authInfo })).text();
    assert.equal(lines.length, 1);
    assert.match(lines[0], /SECURITY: the principal is anonymous.*principalFromAuthInfo/);
  }
});

test('SEP-1359: a sessionId of null is no session', async () => {
  const guard = guardOf();
  const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
  const handler = guard.fetch(createMcpHandler(factory).fetch, { sep1359: true, required: false });
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {}, sessionId: null };
  const headers = { 'mcp-protocol-version': LEGACY };
  const response = await handler(requestOf(message, headers));
  assert.deepEqual(messagesOf(await response.text())[0].result?.tools, []);

  const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout });
  const { send, came, close } = await overStdio(factory, { streams, era: LEGACY });
  send({ id: 7, method: 'tools/list', params: {}, sessionId: null });
  const { result } = await came.first(({ id }) => id === 7);
  assert.deepEqual([result?.tools, result?.sessionId], [[], undefined]);
  await close();
});

test('stdio: what the SDK cannot read is answered, and its id is free again', async () => {
  const guard = guardOf();
  const factory = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard);
  const streams = (stdin, stdout) => sessionStreams(guard, { stdin, stdout });
  const { send, came, close } = await overStdio(factory, { streams, era: LEGACY });
  send({ id: 7, method: 'tools/list', params: 7 });
  send({ id: 7, method: 'tools/list' });
  const [first, second] = await came.all(2, ({ id }) => id === 7);
  assert.equal(first.error?.code, -32600);
  assert.deepEqual(second.result?.tools, []);
  await close();
});

test('stdio: what nobody is answered reaches the SDK, which reports it', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const [inward] = sessionStreams(guardOf(), { stdin, stdout });
  const line = '{"jsonrpc":"2.0","method":"notifications/progress","params":7}\n';
  stdin.write(line);
  const [came] = await once(inward, 'data');
  assert.equal(`${came}`, line);
});

test('stdio: a client that no longer reads ends its connection, and not the process', {
  timeout: 30_000,
}, async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const [, outward] = sessionStreams(guardOf(), { stdin, stdout });
  const failed = once(outward, 'error');
  stdout.destroy(Object.assign(new Error('of the pipe'), { code: 'EPIPE' }));
  assert.equal((await failed)[0].code, 'EPIPE');
});
