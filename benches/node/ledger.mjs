// What a ledger costs, with the store at an address: `node ledger.mjs STORE FOLDER [quick]`. FOLDER is for a
// file of SQLite. `node ledger.mjs STORE serve` serves as fast as it can when it is told to.
// One JSON object a line on standard output (benches/ledger/run.py says which), progress on standard error.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { RedisStore } from 'connect-redis';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { MemoryLedger, RedisLedger, SqliteLedger } from 'sealwax/mcp';

import { samplesByTurn } from './measure.mjs';
import { asked, call, connected, factoryOf, guard, SESSION } from './servers.mjs';

const [, , store, folder, quick] = process.argv;
const CLOCK_TOLERANCE = 1;
const LIFE = 900;
/** As long as what seals 1 kB. */
const STATE = 'x'.repeat(1_400);
const EFFORT = quick === 'quick' ? { turns: 10, warm: 30 } : { turns: 100, warm: 500 };

const now = () => Math.floor(Date.now() / 1_000);
const hex = (bytes) => randomBytes(bytes).toString('hex');
const namespace = hex(8);
const key = (...parts) => [`swl1:{${namespace}}`, ...parts].join(':');
const began = [key('began'), key('fence')];

function told(question, name, base, times) {
  console.log(JSON.stringify({ question, language: 'node', case: name, base, times }));
}

/** Has a ledger remember, and waits until what is made from then on is known. */
async function begin() {
  const client = new Redis(store);
  const ledger = new RedisLedger(client);
  assert.equal((await ledger.run({ script: 'open', keys: began, args: [] }))[0], 'ok');
  await client.quit();
  await sleep((CLOCK_TOLERANCE + 1) * 1_000);
}

function admit(kind, id, mode, ...details) {
  const letter = mode === 'head' ? 'h' : 'u';
  const keys = [...began, key('p', hex(16)), key(letter, kind, id), key('e', kind, id)];
  const times = [now(), now(), now() + LIFE].map(String);
  const args = [hex(8), String(CLOCK_TOLERANCE), '0', mode, ...times, ...details];
  return { script: 'admit', keys, args };
}

// ---- an admission, and its floor ----

async function admission() {
  console.error('node admission');
  const client = new Redis(store);
  const ledger = new RedisLedger(client);
  const sides = {
    set() {
      const [name, value] = [key('u', 'f', hex(16)), hex(8)];
      return async () => assert.equal(await client.set(name, value, 'EX', LIFE, 'NX'), 'OK');
    },
    admit() {
      const command = admit('r', hex(16), 'once', '', '', '');
      return async () => assert.equal((await ledger.run(command))[0], 'ok');
    },
  };
  told('admission', 'ioredis', 'set', await samplesByTurn(sides, { calls: 50, ...EFFORT }));
  await client.quit();
}

// ---- what a session's store costs that users have today ----

async function today() {
  console.error('node today');
  const client = await createClient({ url: store }).connect();
  const theirs = new RedisStore({ client, ttl: LIFE });
  const ledger = new RedisLedger(client);
  const cookie = { originalMaxAge: null };
  await theirs.set('one', { cookie, state: 'x'.repeat(1_024) });
  const sid = hex(16);
  let head = [hex(16), 1];
  const sides = {
    'connect-redis': () => async () => {
      const found = await theirs.get('one');
      await theirs.set('one', { ...found });
    },
    ledger() {
      const [next, until] = [hex(16), String(now() + LIFE)];
      return async () => {
        const [token, generation] = head;
        const seen = [token, String(generation)];
        assert.equal((await ledger.run(admit('s', sid, 'head', ...seen, STATE)))[0], 'ok');
        const keys = [key('h', 's', sid), key('e', 's', sid)];
        const commit = { script: 'commit', keys, args: [...seen, next, until, STATE] };
        assert.equal((await ledger.run(commit))[0], 'ok');
        head = [next, generation + 1];
      };
    },
  };
  const times = await samplesByTurn(sides, { calls: 25, ...EFFORT });
  told('today', 'connect-redis', 'connect-redis', times);
  await client.close();
}

// ---- what an engine adds to a request ----

const engines = {
  none: () => undefined,
  memory: () => new MemoryLedger(),
  sqlite: () => new SqliteLedger(new Database(join(folder, 'node.db'))),
  redis: () => new RedisLedger(new Redis(store, { enableOfflineQueue: true })),
};

/** Calls of a server, each with what the answer to the one before has given; as many chains as that. */
async function chained(request, engine, count = 1) {
  const ledger = engines[engine]();
  const allowed = ledger?.local ? {} : { clockTolerance: CLOCK_TOLERANCE };
  const remembers = ledger && { ledger, ledgerOptions: allowed };
  const ask = await connected(factoryOf(guard({ sessions: request === 'session', ...remembers })));
  const begin = () => chains[request](ask);
  // What was sealed when the ledger was new is not known to it.
  for (const until = Date.now() + 10_000; ; await sleep(200)) {
    try {
      await (await begin())();
      break;
    } catch (error) {
      if (Date.now() > until) throw error;
    }
  }
  return Promise.all(Array.from({ length: count }, begin));
}

const chains = {
  async state(ask) {
    const first = { ...call, name: 'state' };
    let params = first;
    const next = async () => {
      const sent = params;
      // Where it fails, another chain begins.
      params = first;
      const { requestState } = await asked(ask, sent);
      params = { ...first, requestState };
    };
    await next();
    return next;
  },
  async session(ask) {
    let { sessionId, state } = (await ask('sessions/create', {})).result.session;
    return async () => {
      const params = { ...call, name: 'session', _meta: { [SESSION]: { sessionId, state } } };
      const { _meta } = await asked(ask, params);
      assert.notEqual(_meta[SESSION].state, state);
      ({ state } = _meta[SESSION]);
    };
  },
};

async function added() {
  for (const request of Object.keys(chains)) {
    console.error(`node ${request}`);
    const sides = {};
    for (const engine of Object.keys(engines)) {
      const [next] = await chained(request, engine);
      sides[engine] = () => next;
    }
    told('added', request, 'none', await samplesByTurn(sides, { calls: 10, ...EFFORT }));
  }
}

// ---- as many as it can, when it is told to: `ENGINE MILLISECONDS` a line, what it did a line back ----

const AT_ONCE = 16;

async function serve() {
  const sides = {};
  for (const engine of ['none', 'redis']) {
    sides[engine] = await chained('state', engine, AT_ONCE);
  }
  console.log('ready');
  for await (const line of createInterface({ input: process.stdin })) {
    const [engine, milliseconds] = line.split(' ');
    let [served, failed] = [0, 0];
    const start = performance.now();
    const one = async (next) => {
      while (performance.now() - start < Number(milliseconds)) {
        try {
          await next();
          served += 1;
        } catch {
          // Late, on a machine that is too busy.
          failed += 1;
        }
      }
    };
    await Promise.all(sides[engine].map(one));
    const per_s = (served * 1e3) / (performance.now() - start);
    console.log(JSON.stringify({ per_s, failed }));
  }
}

if (folder === 'serve') {
  await serve();
} else {
  await begin();
  await admission();
  await today();
  await added();
}
process.exit(0);
