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

test('a state that cannot be sealed: the log hears why, the model does not', async () => {
  const cases = [
    ['x'.repeat(100), 'too_large'],
    [Number.NaN, 'invalid_argument'],
  ];
  for (const [value, code] of cases) {
    const { guard, refusals, lines } = reporting();
    const ask = (ctx) => inputRequired({ requestState: guard.state(ctx, value) });
    const low = factoryOf({ 'tools/call': (_, ctx) => ask(ctx) }, guard);
    const high = () => {
      const server = new McpServer({ name: 'asking', version: '1' });
      server.registerTool('ask', {}, ask);
      return guard.protect(server);
    };
    for (const factory of [low, high]) {
      const { error } = await answered(factory);
      assert.deepEqual(error, { code: -32603, message: 'Internal error' });
      assert.deepEqual([refusals.length, lines.length], [1, 1]);
      const [{ cause, message, ...told }] = refusals.splice(0);
      assert.deepEqual(
        [told.code, told.kind, told.method, told.target, told.subject],
        [code, 'request-state', 'tools/call', 'ask', 'alice'],
      );
      assert.equal(cause.code, code);
      assert.ok(lines.pop().includes(message));
    }
  }
});

/** A server whose handler asks, once; `again` is its call with the state. */
async function asking(options, read, wrap = (server) => server) {
  const { guard, refusals } = reporting();
  const factory = () => {
    const server = new McpServer({ name: 'asking', version: '1' }, options(guard));
    server.registerTool('ask', {}, (ctx) => {
      if (read(guard, ctx)?.asked) return text('done');
      return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
    });
    return guard.protect(wrap(server));
  };
  const { result } = await answered(factory);
  const again = await answered(factory, { requestState: result.requestState });
  return { again, refusals };
}

test('a state is read by the guard, or by the SDK whose option the guard is', async () => {
  const opened = (guard, ctx) => guard.opened(ctx);
  const ofSdk = (_, ctx) => ctx.mcpReq.requestState();
  const none = () => ({});
  const verifying = ({ verify }) => ({ requestState: { verify } });
  for (const [options, read] of [
    [none, opened],
    [verifying, opened],
    [verifying, ofSdk],
  ]) {
    const { again, refusals } = await asking(options, read);
    assert.equal(again.result.content[0].text, 'done');
    assert.deepEqual(refusals, []);
  }
  // Without the guard it is sealed, and says nothing.
  const { again } = await asking(none, ofSdk);
  assert.equal(again.result.content, undefined);
});

const wrapped = (server) => {
  const own = server.server._getRequestHandler('tools/call');
  server.server.setRequestHandler('tools/call', (request, ctx) => own(request, ctx));
  return server;
};

test('a handler that its author wrapped has the state too', async () => {
  const read = (guard, ctx) => guard.opened(ctx);
  const { again, refusals } = await asking(() => ({}), read, wrapped);
  assert.equal(again.result.content[0].text, 'done');
  assert.deepEqual(refusals, []);
});

test('a state that the option of the SDK refuses after the guard has opened it', async () => {
  const read = (guard, ctx) => guard.opened(ctx);
  const another = () => Promise.reject(new Error('not mine'));
  // The SDK has it verify twice where its own handler is wrapped.
  for (const [verify, wrap] of [[() => another], [(guard) => guard.verify, wrapped]]) {
    const options = (guard) => ({ requestState: { verify: verify(guard) } });
    const { again, refusals } = await asking(options, read, wrap);
    assert.equal(again.error.code, -32602);
    const [{ kind, target, message }] = refusals;
    assert.deepEqual([refusals.length, kind, target], [1, 'request-state', 'ask']);
    assert.match(message, /requestState\.verify refused it; leave the option out/);
  }
});
