// What `initialize` says, in a session of the earlier revisions.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { LEGACY } from './client.mjs';
import { guardOf, messagesOf, requestOf, text } from './wire.mjs';

test('what an initialize says is kept, whatever the engine could not write again', async () => {
  const guard = guardOf();
  const info = { name: 'wire', version: '1' };
  const factory = () => {
    const server = new Server(info, { capabilities: { tools: {} }, instructions: 'cut \ud83d' });
    server.setRequestHandler('tools/call', (_, ctx) => text(JSON.stringify(guard.negotiated(ctx))));
    return guard.protect(server);
  };
  const fetch = guard.fetch(createMcpHandler(factory).fetch);
  const post = async (body, headers) => {
    const response = await fetch(requestOf(body, headers));
    return [response.headers.get('mcp-session-id'), messagesOf(await response.text())[0]];
  };
  const call = {
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'x', arguments: {} },
  };
  const cases = ['"cut \\ud83d"', '['.repeat(123) + ']'.repeat(123)];
  for (const came of cases) {
    const params = { protocolVersion: LEGACY, capabilities: 'CAME', clientInfo: info };
    const initialize = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const capabilities = (value) => `{"experimental":{"a":{"b":${value}}}}`;
    const [session] = await post(initialize.replace('"CAME"', capabilities(came)));
    assert.ok(session, came);
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': LEGACY };
    const [, { result }] = await post(call, headers);
    const { clientCapabilities } = JSON.parse(result.content[0].text);
    assert.deepEqual(clientCapabilities, JSON.parse(capabilities(came)));
  }
});
