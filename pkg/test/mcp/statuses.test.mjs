// HTTP statuses are those of a server without a guard: the SDK finds one for an error only while it
// delivers, so nothing may come late that can be decided at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inputRequired } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

const PROTOCOL = 'io.modelcontextprotocol/protocolVersion';
const principals = {
  'at once': () => anonymous,
  later: () => new Promise((tell) => setImmediate(() => tell(anonymous))),
};

const handlers = {
  'tools/list': () => ({ tools: [] }),
  'tools/call': ({ params }) => {
    if (params.name === 'throws') throw Object.assign(new Error('thrown'), { code: -32601 });
    if (params.name === 'asks') {
      return inputRequired({
        inputRequests: { a: { method: 'sampling/createMessage', params: {} } },
      });
    }
    return text('done');
  },
};

/** Requests of the later revision, by what the SDK answers. */
function requests() {
  const of = (method, params) => modern(1, method, params);
  const [call, headers] = of('tools/call', { name: 'x', arguments: {} });
  const versioned = (version) => ({
    ...call,
    params: { ...call.params, _meta: { ...call.params._meta, [PROTOCOL]: version } },
  });
  return {
    'unknown method: 404': of('acme/unknown'),
    'unknown method with a state: 404': of('acme/unknown', { requestState: 'x' }),
    'method of an earlier revision: 404': of('ping'),
    'another version than the header: 400': [versioned('2025-11-25'), headers],
    'unknown version: 400': [
      versioned('2099-01-01'),
      { ...headers, 'mcp-protocol-version': '2099-01-01' },
    ],
    'another method than the header: 400': [call, { ...headers, 'mcp-method': 'tools/list' }],
    'another name than the header: 400': [call, { ...headers, 'mcp-name': 'y' }],
    'no header of the method: 400': [
      call,
      { 'mcp-protocol-version': headers['mcp-protocol-version'] },
    ],
    'a capability that the client has not: 400': of('tools/call', { name: 'asks', arguments: {} }),
    'what a handler throws: 200': of('tools/call', { name: 'throws', arguments: {} }),
    'what is no call: 200': of('tools/call', { name: ['x'], arguments: {} }),
    'what is served: 200': of('tools/call', { name: 'x', arguments: {} }),
    'a list: 200': of('tools/list'),
  };
}

for (const [when, principal] of Object.entries(principals)) {
  test(`statuses are as without a guard, the principal told ${when}`, async () => {
    for (const [what, request] of Object.entries(requests())) {
      const status = Number(what.match(/\d+$/));
      const guard = guardOf({ principal });
      const guarded = await overHttp(factoryOf(handlers, guard), ...request);
      assert.deepEqual(guarded, await overHttp(factoryOf(handlers), ...request), what);
      assert.equal(guarded.status, status, what);
    }
  });
}
