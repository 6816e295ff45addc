// The SDK that this passed with, and what the guard assumes of it where no other test would tell.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import {
  createMcpHandler,
  DEFAULT_MAX_REQUEST_BODY_SIZE,
  isLegacyRequest,
} from '@modelcontextprotocol/server';
import { factoryOf, guardOf, requestOf, text } from './wire.mjs';

const passedWith = { server: '2.4.0', client: '2.4.0', node: '2.1.2' };
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };

test('the versions are those that it passed with', () => {
  for (const [name, version] of Object.entries(passedWith)) {
    const path = `node_modules/@modelcontextprotocol/${name}/package.json`;
    const manifest = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
    assert.equal(
      manifest.version,
      version,
      `@modelcontextprotocol/${name}: if all else passes, write ${manifest.version} here and in test/mcp/package.json`,
    );
  }
});

test('a handler of HTTP takes a parsed body', async () => {
  const request = requestOf('not this');
  assert.equal(await isLegacyRequest(request, call), true, 'moved: isLegacyRequest');
  const { fetch } = createMcpHandler(factoryOf({ 'tools/call': () => text('x') }));
  const said = await (await fetch(request, { parsedBody: call })).text();
  assert.match(said, /^data: ?\{.*"result".*\}$/m, 'moved: an event has one line of data');
  assert.equal(DEFAULT_MAX_REQUEST_BODY_SIZE, 4 * 1024 * 1024, 'moved: how much is read of a body');
});

test('what the guard lets pass without a session, the SDK does not serve as legacy', async () => {
  let passed;
  const around = guardOf().fetch(async () => {
    passed = true;
    return new Response();
  });
  const claim = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } };
  const paramses = [undefined, {}, { _meta: {} }, { _meta: null }, claim, { _meta: 7 }];
  const bodies = ['tools/list', 'notifications/x', 'initialize'].flatMap((method) =>
    paramses.flatMap((params) => {
      const request = { jsonrpc: '2.0', id: 1, method, params };
      return [request, { ...request, id: undefined }, { ...request, result: {} }, [request]];
    }),
  );
  bodies.push({ jsonrpc: '2.0', id: 1, result: claim }, { ...claim }, 7, [], {});
  const versions = ['2026-07-28', '2025-11-25', '9', 'x', '2027', ' 2026-07-28', '', undefined];
  let compared = 0;
  for (const body of bodies) {
    for (const version of versions) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        const headers = {
          'content-type': 'application/json',
          ...(version !== undefined && { 'mcp-protocol-version': version }),
        };
        const init = { method, headers, ...(method === 'POST' && { body: JSON.stringify(body) }) };
        const request = () => new Request('http://localhost/mcp', init);
        passed = false;
        await around(request());
        // The answer to initialize is what a session begins with.
        if (!passed || Object(body).method === 'initialize') continue;
        const what = `moved: ${method} ${version} ${JSON.stringify(body)}`;
        assert.equal(await isLegacyRequest(request()), false, what);
        compared += 1;
      }
    }
  }
  assert.ok(compared > 20);
});
