// What a guard cannot serve reaches the log and `onRefused`, and says what to do.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { anonymous, Codec, Key } from 'sealwax';
import { called, factoryOf, telling, text } from './wire.mjs';

/** A guard, with what it reports. */
const reporting = (principal = { subject: 'alice' }) =>
  telling({
    codec: new Codec({ keys: Key.generate(), audience: 'a', payloadLimit: 64 }),
    principal: () => principal,
  });

/** A factory of servers of a guard with one tool. */
function highOf(guard, tool, { options = {}, wrap = (server) => server } = {}) {
  return () => {
    const server = new McpServer({ name: 'asking', version: '1' }, options);
    server.registerTool('x', {}, tool);
    return guard.protect(wrap(server));
  };
}

test('a state that cannot be sealed: the log hears why, the model does not', async () => {
  for (const [value, code, principal] of [
    ['x'.repeat(100), 'too_large', { subject: 'alice' }],
    [Number.NaN, 'invalid_argument', anonymous],
  ]) {
    const { guard, events, lines } = reporting(principal);
    const ask = (ctx) => inputRequired({ requestState: guard.state(ctx, value) });
    const low = factoryOf({ 'tools/call': (_, ctx) => ask(ctx) }, guard);
    for (const factory of [low, highOf(guard, ask)]) {
      const { error } = await called(factory);
      assert.deepEqual(error, { code: -32603, message: 'Internal error' });
      const [{ cause, message, ...told }, ...more] = events.splice(0);
      assert.deepEqual(
        [told.code, told.kind, told.method, told.target, told.subject, cause.code, more],
        [code, 'request-state', 'tools/call', 'x', principal.subject, code, []],
      );
      assert.ok(lines.pop().includes(message));
      assert.deepEqual(lines, []);
    }
  }
});

const opened = (guard, ctx) => guard.opened(ctx);
const ofSdk = (_, ctx) => ctx.mcpReq.requestState();
const verifying = ({ verify }) => ({ requestState: { verify } });
const another = () => ({
  requestState: { verify: () => Promise.reject(new Error('not mine')) },
});
const wrap = (server) => {
  const own = server.server._getRequestHandler('tools/call');
  server.server.setRequestHandler('tools/call', (request, ctx) => own(request, ctx));
  return server;
};

for (const [how, is, { read = opened, options = () => ({}), ...more }] of [
  ['by the guard', 'read', {}],
  ['by the guard, which is the option of the SDK too', 'read', { options: verifying }],
  ['by the SDK whose option the guard is', 'read', { options: verifying, read: ofSdk }],
  ['by the guard in a handler that its author wrapped', 'read', { wrap }],
  ['by the SDK without the guard', 'sealed', { read: ofSdk }],
  ['by another option of the SDK', 'refused', { options: another }],
  // The SDK has it verify twice.
  ['by the option in a handler that its author wrapped', 'refused', { options: verifying, wrap }],
]) {
  test(`a state, read ${how}: ${is}`, async () => {
    const { guard, events } = reporting();
    let given;
    const tool = (ctx) => {
      given = read(guard, ctx);
      if (given?.asked) return text('done');
      return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
    };
    const factory = highOf(guard, tool, { options: options(guard), ...more });
    const { requestState } = (await called(factory)).result;
    const again = await called(factory, { requestState });
    assert.equal(again.result?.content?.[0].text, is === 'read' ? 'done' : undefined);
    assert.equal(events.length, is === 'refused' ? 1 : 0);
    if (is === 'sealed') assert.equal(given, requestState);
    if (is !== 'refused') return;
    assert.equal(again.error.code, -32602);
    const [{ kind, target, message }] = events;
    assert.deepEqual([kind, target], ['request-state', 'x']);
    assert.match(message, /requestState\.verify refused it; leave the option out/);
  });
}
