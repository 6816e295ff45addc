// Sessions of SEP-1359 in event streams: a message gets its session, and all else stays as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { LEGACY } from './client.mjs';
import { factoryOf, guardOf, messagesOf, requestOf, text } from './wire.mjs';

const initialize = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    ...{ protocolVersion: LEGACY, capabilities: {} },
    clientInfo: { name: 'wire', version: '1' },
  },
};
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x', arguments: {} } };

/** A handler behind sessions, and the session that it began. */
async function begun(handler) {
  const sessions = guardOf().fetch(handler, { sep1359: true });
  const [{ result }] = messagesOf(await (await sessions(requestOf(initialize))).text());
  const { sessionId } = result;
  assert.match(sessionId, /^sw1\./);
  return { sessionId, ask: () => sessions(requestOf({ ...call, sessionId })) };
}

test('what ends a line in JavaScript ends none in an event', async () => {
  for (const odd of ['\u2028', '\u2029', '\u0085', '\v', '\f', '\u2028data: {"a":1}\u2029data:']) {
    const said = `one${odd}two`;
    const factory = factoryOf({ 'tools/call': () => text(said) }, guardOf());
    const { sessionId, ask } = await begun(createMcpHandler(factory).fetch);
    const response = await ask();
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const [, data] = (await response.text()).match(/^event: message\ndata: ([^\r\n]*)\n\n$/);
    const { result } = JSON.parse(data);
    assert.equal(result.sessionId, sessionId);
    assert.equal(result.content[0].text, said);
  }
});

test('ids, names, times to retry and comments pass, whatever ends their lines', async () => {
  const message = (id) => `{ "jsonrpc": "2.0", "id": ${id}, "result": { "text": "\u2028" } }`;
  const failed = '{ "jsonrpc": "2.0", "id": 5, "error": { "code": -32603, "message": "x" } }';
  for (const end of ['\n', '\r', '\r\n']) {
    const lines = (of) => [
      ...[': a comment', 'retry: 250', 'id: e1', 'data: ', ''],
      ...['id: e2', 'event: message', `data:${of(message(2))}`, ''],
      ...['id: e3', ''],
      ...['data: no JSON', 'unknown: {"a":1}', `data: ${failed}`, '', ': keepalive', ''],
      ...[`data: ${of(message(3))}`, ''],
    ];
    const bytes = new TextEncoder().encode(lines((json) => json).join(end));
    for (const size of [1, 7, 10_000]) {
      const handler = async (_, { parsedBody }) => {
        if (parsedBody.method === 'initialize') {
          const result = { protocolVersion: LEGACY, capabilities: {} };
          return Response.json({ jsonrpc: '2.0', id: 1, result });
        }
        let at = 0;
        const body = new ReadableStream({
          pull(controller) {
            controller.enqueue(bytes.slice(at, at + size));
            at += size;
            if (at >= bytes.length) controller.close();
          },
        });
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
      };
      const { sessionId, ask } = await begun(handler);
      const edited = (json) => {
        const { result, ...rest } = JSON.parse(json);
        return JSON.stringify({ ...rest, result: { ...result, sessionId } });
      };
      const expected = lines((json) => `${json === message(2) ? ' ' : ''}${edited(json)}`);
      assert.equal(
        await (await ask()).text(),
        expected.join(end),
        `${size} ${JSON.stringify(end)}`,
      );
    }
  }
});

test('an event that ends by CR is not held back', async () => {
  let controller;
  const handler = async (_, { parsedBody }) => {
    if (parsedBody.method === 'initialize') {
      return Response.json({ jsonrpc: '2.0', id: 1, result: { protocolVersion: LEGACY } });
    }
    const body = new ReadableStream({
      start(given) {
        controller = given;
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  const { ask } = await begun(handler);
  const reader = (await ask()).body.getReader();
  controller.enqueue(new TextEncoder().encode('data: {"jsonrpc":"2.0","method":"x"}\r\r'));
  const { value } = await reader.read();
  assert.match(new TextDecoder().decode(value), /^data: \{.*"sessionId":"sw1\..*\}\r\r$/);
  await reader.cancel();
});

test('an answer that is no stream gets its session, and so does a line that nothing ends', async () => {
  const answered = { jsonrpc: '2.0', id: 2, result: { text: 'x' } };
  const stream = { headers: { 'content-type': 'text/event-stream' } };
  for (const give of [
    () => Response.json(answered),
    () => new Response(`data: ${JSON.stringify(answered)}`, stream),
  ]) {
    const handler = async (_, { parsedBody }) => {
      if (parsedBody.method === 'tools/call') return give();
      const result = { protocolVersion: LEGACY, capabilities: {} };
      return Response.json({ jsonrpc: '2.0', id: 1, result });
    };
    const { sessionId, ask } = await begun(handler);
    const [message] = messagesOf(await (await ask()).text());
    assert.deepEqual(message.result, { text: 'x', sessionId });
  }
});
