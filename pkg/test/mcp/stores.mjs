// Servers behind a guard whose ledger is a store of the test's own.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'node:test';
import { inspect } from 'node:util';

import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { sleep } from './client.mjs';
import { valkey } from './valkey.mjs';
import { asking, called, factoryOf, telling, text } from './wire.mjs';

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

const require = createRequire(import.meta.url);
const hasNodeSqlite = Number(process.versions.node.split('.')[0]) >= 22;

/** Why SQLite is left out, if it is: the package had to be compiled, and there was no compiler of C++. */
export const noSqlite = hasNodeSqlite ? false : whyNot();

function whyNot() {
  try {
    database(':memory:').close();
    return false;
  } catch ({ message }) {
    return `better-sqlite3: ${message.split('\n', 1)}`;
  }
}

/** A database of a file, by the package that this Node can load. */
export function database(path) {
  if (hasNodeSqlite) return new (require('node:sqlite').DatabaseSync)(path);
  return new (require('better-sqlite3'))(path);
}

/** A file in a folder that is gone after the test. */
export function file() {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'ledger.db');
}

/** Clients of one server, as LEDGER's users have them: they hear at once that it is gone. They are closed after the test. */
export const clients = {
  ioredis(url) {
    const client = new Redis(url, { enableOfflineQueue: true, maxRetriesPerRequest: 1 });
    client.on('error', () => {});
    closing.push(() => client.disconnect());
    return client;
  },
  redis(url) {
    const client = createClient({ url });
    client.on('error', () => {});
    client.connect().catch(() => {});
    closing.push(() => client.destroy());
    return client;
  },
};

const isLate = (message) => /in time/.test(message);

/** Tries again while a busy machine does not do it in time. */
async function steadily(work, wasLate) {
  for (let tries = 1; ; tries += 1) {
    const done = await work();
    if (tries === 20 || !wasLate(done)) return done;
  }
}

/**
 * A server with a state, handles and a session, which is written once `meet` lets it; what it logs and tells. Its guard waits
 * long, for a busy machine is no failure.
 */
export function served(ledger, { meet, ...options } = {}) {
  const { guard, lines, events } = telling({ ledger, timeLimit: 20, ...options });
  const rows = guard.referenceHandles('row');
  const baskets = guard.selfContainedHandles('basket');
  const sessions = guard.sessions({ initial: () => 0 });
  const tools = {
    mint: async (ctx) => (await rows.mint(ctx)).handle,
    end: (ctx, { handle }) => rows.end(ctx, handle),
    check: (ctx, { handle }) => rows.check(ctx, handle),
    hold: async (ctx) => (await baskets.seal(ctx, [1])).handle,
    open: (ctx, { handle }) => baskets.open(ctx, handle),
    drop: (ctx, { handle }) => baskets.end(ctx, handle),
    read: (ctx) => `${sessions.of(ctx).value}`,
    write(ctx) {
      sessions.of(ctx).write(sessions.of(ctx).value + 1);
      return meet();
    },
  };
  const tool = async ({ params: { name, arguments: args } }, ctx) => {
    if (name === 'ask') return asking(guard)(undefined, ctx);
    const said = await tools[name](ctx, args);
    return text(typeof said === 'string' ? said : 'done');
  };
  const factory = factoryOf({ 'tools/call': tool }, guard);
  const call = (name, args = {}, more = {}) => called(factory, { name, arguments: args, ...more });
  const said = async (...given) => (await call(...given)).result?.content[0].text;
  const steady = (...given) =>
    steadily(
      () => call(...given),
      ({ error }) => error?.code === -32603 && isLate(events.at(-1)?.message),
    );
  return {
    ...{ guard, factory, lines, events, call, said, steady, minted: () => said('mint') },
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
