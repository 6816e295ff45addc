// Whose fault it is, and what is told: numbers that become infinite, an anonymous guard, lines that the SDK cannot read.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { sessionStreams } from 'sealwax/mcp/stdio';
import { LEGACY } from './client.mjs';
import { factoryOf, guardOf, modern, overHttp, overStdio, requestOf, text } from './wire.mjs';

test('a state is not bound to a number that JSON.stringify would write as null', async () => {
  const factory = factoryOf({ 'tools/call': () => text('ran') }, guardOf());
  for (const unsafe of ['1e400', '-1e400', '[{"a":1e400}]']) {
    const call = async (more) => {
      const [message, headers] = modern(1, 'tools/call', { arguments: { id: '?' }, ...more });
      const body = JSON.stringify(message).replace('"?"', unsafe);
      return (await overHttp(factory, body, headers)).messages[0].result.content[0].text;
    };
    assert.equal(await call({ name: 'x' }), 'ran');
    assert.match(
      await call({ name: 'x', requestState: 'x' }),
      /^Invalid arguments\. argument "id": expected/,
    );
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
