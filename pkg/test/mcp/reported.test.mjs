// What a guard cannot serve reaches the log and `onRefused`, and says what to do.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { Codec, Key } from 'sealwax';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

/** A guard, with what it reports. */
function reporting(options = {}) {
  const [refusals, lines] = [[], []];
  const guard = guardOf({
    codec: new Codec({
      ...{ keys: Key.generate().toText(), audience: 'https://mcp.example.com', payloadLimit: 64 },
    }),
    principal: () => ({ subject: 'alice' }),
    onRefused: (refused) => refusals.push(refused),
    logger: { warn: (line) => lines.push(line) },
    ...options,
  });
  return { guard, refusals, lines };
}

const call = (params) => modern(1, 'tools/call', { name: 'ask', arguments: {}, ...params });

async function answered(factory, params) {
  const { messages } = await overHttp(factory, ...call(params));
  return messages[0];
}

test('a state that cannot be sealed', async () => {
  const cases = [
    ['x'.repeat(100), 'too_large'],
    [Number.NaN, 'invalid_argument'],
  ];
  for (const [value, code] of cases) {
    const { guard, refusals, lines } = reporting();
    const ask = (_, ctx) => inputRequired({ requestState: guard.state(ctx, value) });
    await answered(factoryOf({ 'tools/call': ask }, guard));
    assert.deepEqual([refusals.length, lines.length], [1, 1]);
    const [{ cause, message, ...told }] = refusals;
    assert.deepEqual(
      [told.code, told.kind, told.method, told.target, told.subject],
      [code, 'request-state', 'tools/call', 'ask', 'alice'],
    );
    assert.equal(cause.code, code);
    assert.ok(lines[0].includes(message));
  }
});

test('a state that a handler around the one of the SDK has it verify twice', async () => {
  const { guard, refusals } = reporting();
  const factory = (wraps) => () => {
    const server = new McpServer({ name: 'wrapped', version: '1' });
    server.registerTool('ask', {}, (ctx) => {
      if (guard.opened(ctx)?.asked) return text('done');
      return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
    });
    if (wraps) {
      const own = server.server._getRequestHandler('tools/call');
      server.server.setRequestHandler('tools/call', (request, ctx) => own(request, ctx));
    }
    return guard.protect(server);
  };
  const { result } = await answered(factory(false));
  const again = { requestState: result.requestState };
  assert.equal((await answered(factory(false), again)).result.content[0].text, 'done');
  assert.deepEqual(refusals, []);
  assert.equal((await answered(factory(true), again)).error.code, -32602);
  const [{ kind, target, message }] = refusals;
  assert.deepEqual([refusals.length, kind, target], [1, 'request-state', 'ask']);
  assert.match(message, /the SDK verifies the state twice.*wrap the functions of the tools/);
});

test('a server of another major version', () => {
  // As McpServer of @modelcontextprotocol/sdk 1.x has them.
  const former = {
    connect() {},
    server: { connect() {}, setRequestHandler() {}, _onrequest() {} },
  };
  const { guard, refusals } = reporting();
  assert.throws(() => guard.protect(former), /sdk 1\.x; install @modelcontextprotocol\/server/);
  assert.deepEqual([refusals.length, refusals[0].kind], [1, 'request-state']);
  assert.match(
    refusals[0].message,
    /^protect: server: expected .* 2\.x, found one of another major/,
  );
});
