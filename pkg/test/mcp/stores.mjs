// Servers behind a guard whose ledger is a store of the test's own.

import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { inspect } from 'node:util';

import { RedisLedger } from 'sealwax/mcp';
import { clients } from './ledgers.mjs';
import { valkey } from './valkey.mjs';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

/** A password that no log may have. */
export const SECRET = 'hunter2hunter2';
/** Functions that run after the test, the last one first. */
export const closing = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

export async function started(options) {
  const server = await valkey(options);
  closing.push(() => server.close());
  return server;
}

/** A ledger on a client that is closed after the test. */
export function connected(client, url) {
  const made = clients[client](url);
  closing.push(() => (client === 'ioredis' ? made.disconnect() : made.destroy()));
  return new RedisLedger(made);
}

/**
 * A server with a state, a handle and a session; what it logs and tells. Its guard waits long, for a busy machine is no
 * failure.
 */
export function served(ledger, options = {}) {
  const lines = [];
  const events = [];
  const guard = guardOf({
    ...{ ledger, timeLimit: 20, onRefused: (event) => events.push(event) },
    logger: { warn: (line) => lines.push(line) },
    ...options,
  });
  const rows = guard.referenceHandles('row');
  const factory = factoryOf(
    {
      'tools/call': async ({ params }, ctx) => {
        if (params.name === 'mint') return text((await rows.mint(ctx)).handle);
        if (params.name === 'end') await rows.end(ctx, params.arguments.handle);
        if (params.name === 'check') await rows.check(ctx, params.arguments.handle);
        if (guard.opened(ctx) !== undefined || params.name !== 'ask') return text('done');
        return { resultType: 'input_required', requestState: guard.state(ctx, 1) };
      },
    },
    guard,
  );
  const call = async (name, args = {}, more = {}) => {
    const sent = modern(1, 'tools/call', { name, arguments: args, ...more });
    return (await overHttp(factory, ...sent)).messages[0];
  };
  /** The same, as soon as a busy machine answers in time. */
  const steady = async (...given) => {
    for (let tries = 1; ; tries += 1) {
      const answer = await call(...given);
      const late = answer.error?.code === -32603 && /in time/.test(events.at(-1)?.message);
      if (!late || tries === 20) return answer;
    }
  };
  return {
    ...{ guard, lines, events, call, steady },
    asked: async () => (await call('ask')).result.requestState,
    again: (requestState) => call('ask', {}, { requestState }),
  };
}

/** Signs somebody out, as soon as a busy machine does it in time. */
export async function revoked(guard) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await guard.revoke({ subject: 'alice' });
    } catch (error) {
      if (tries === 20 || !/in time/.test(error.message)) throw error;
    }
  }
}

/** A request whose state cannot be judged is the server's failure, in time, and the log says why. */
export async function fails(ledger, why) {
  const server = served(ledger, { timeLimit: 1 });
  for (let tries = 1; ; tries += 1) {
    const from = performance.now();
    const { result, error } = await server.again(await server.asked());
    const took = performance.now() - from;
    assert.deepEqual([result, error], [undefined, { code: -32603, message: 'Internal error' }]);
    assert.ok(took < 20_000, `${took} ms`);
    const event = server.events.at(-1);
    assert.equal(event.code, 'ledger_unavailable');
    // On a busy machine even a good answer may come late.
    if (tries < 20 && /in time/.test(event.message) && !why.test(event.message)) continue;
    assert.match(event.message, why);
    assert.match(server.lines.at(-1), why);
    assert.doesNotMatch(inspect([server.lines, server.events], { depth: 9 }), new RegExp(SECRET));
    return server;
  }
}
