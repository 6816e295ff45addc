// Servers behind a guard whose ledger is a store of the test's own.

import assert from 'node:assert/strict';
import { afterEach } from 'node:test';
import { inspect } from 'node:util';

import { RedisLedger } from 'sealwax/mcp';
import { sleep } from './client.mjs';
import { clients, ledgerOf } from './ledgers.mjs';
import { valkey } from './valkey.mjs';
import { called, factoryOf, guardOf, text } from './wire.mjs';

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

/** Waits for what comes within ten seconds. */
export async function until(isSo) {
  for (let tries = 0; tries < 200 && !(await isSo()); tries += 1) await sleep(50);
}

/** A ledger on a client that is closed after the test. */
export function connected(client, url) {
  const made = clients[client](url);
  closing.push(() => (client === 'ioredis' ? made.disconnect() : made.destroy()));
  return new RedisLedger(made);
}

/** The same of a ledger that began an hour ago. */
export function aged(client, url) {
  const ledger = ledgerOf({ engine: 'redis', url, client });
  closing.push(() => ledger.close());
  return ledger;
}

const isLate = (message) => /in time/.test(message);

/** Tries again while a busy machine does not do it in time. */
async function steadily(work, wasLate) {
  for (let tries = 1; ; tries += 1) {
    const done = await work();
    if (tries === 20 || !wasLate(done)) return done;
  }
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
  const tool = async ({ params: { name, arguments: args } }, ctx) => {
    if (name === 'mint') return text((await rows.mint(ctx)).handle);
    if (name === 'end') await rows.end(ctx, args.handle);
    if (name === 'check') await rows.check(ctx, args.handle);
    if (name !== 'ask' || guard.opened(ctx) !== undefined) return text('done');
    return { resultType: 'input_required', requestState: guard.state(ctx, 1) };
  };
  const factory = factoryOf({ 'tools/call': tool }, guard);
  const call = (name, args = {}, more = {}) => called(factory, { name, arguments: args, ...more });
  const steady = (...given) =>
    steadily(
      () => call(...given),
      ({ error }) => error?.code === -32603 && isLate(events.at(-1)?.message),
    );
  return {
    ...{ guard, lines, events, call, steady },
    minted: async () => (await call('mint')).result.content[0].text,
    asked: async () => (await call('ask')).result.requestState,
    again: (requestState) => call('ask', {}, { requestState }),
  };
}

/** A request whose state cannot be judged is the server's failure, in time, and the log says why. */
export async function fails(ledger, why) {
  const server = served(ledger, { timeLimit: 1 });
  const failing = async () => {
    const from = performance.now();
    const { result, error } = await server.again(await server.asked());
    const took = performance.now() - from;
    assert.deepEqual([result, error], [undefined, { code: -32603, message: 'Internal error' }]);
    assert.ok(took < 20_000, `${took} ms`);
    return server.events.at(-1);
  };
  const event = await steadily(failing, ({ message }) => isLate(message) && !why.test(message));
  assert.equal(event.code, 'ledger_unavailable');
  assert.match(event.message, why);
  assert.match(server.lines.at(-1), why);
  assert.doesNotMatch(inspect([server.lines, server.events], { depth: 9 }), new RegExp(SECRET));
  return server;
}
