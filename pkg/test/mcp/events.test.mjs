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
