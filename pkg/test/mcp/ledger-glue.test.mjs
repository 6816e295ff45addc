// Between a guard and its ledger, without a store: what a ledger warns of, one that fails, and one that is late.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LedgerUnfit, SqliteLedger } from 'sealwax/mcp';
import { TestClock, testCodec, testLedger } from 'sealwax/testing';
import { database, noSqlite } from './ledgers.mjs';
import { guardOf } from './wire.mjs';

const alice = { subject: 'alice' };

test('what a ledger warns of is logged once, as soon as it is known', async () => {
  const clock = new TestClock();
  const memory = testLedger(clock);
  const lines = [];
  const ledger = {
    run(command) {
      ledger.warnings = ['it forgets', 'and soon'];
      return memory.run(command);
    },
  };
  const logger = { warn: (line) => lines.push(line) };
  const guard = guardOf({ codec: testCodec(clock), ledger, logger });
  assert.deepEqual(lines, []);
  for (let times = 0; times < 2; times += 1) await guard.revoke(alice);
  assert.deepEqual(lines, ['sealwax: ledger: it forgets', 'sealwax: ledger: and soon']);
});

test('why a ledger cannot be one is logged', async () => {
  const lines = [];
  const ledger = { run: () => Promise.reject(new LedgerUnfit('it would lose records')) };
  const guard = guardOf({ ledger, logger: { warn: (line) => lines.push(line) } });
  const told = /ledger: it would lose records/;
  await assert.rejects(guard.revoke(alice), told);
  assert.match(lines.at(-1), told);
});

test('an answer that never comes is one that failed', { timeout: 10_000 }, async () => {
  const ledger = { run: () => new Promise(() => {}) };
  const guard = guardOf({ ledger, timeLimit: 0.05 });
  await assert.rejects(guard.revoke(alice), /expected an answer in time, found none/);
});

test('SQLite: a command that failed leaves nothing open', { skip: noSqlite }, async () => {
  const ledger = new SqliteLedger(database(':memory:'));
  assert.throws(() => ledger.run({ script: 'none', keys: [], args: [] }));
  const guard = guardOf({ ledger });
  await guard.revoke(alice);
});

test('an answer that was made too late is none, though it is there at once', async () => {
  const clock = new TestClock();
  const memory = testLedger(clock);
  const ledger = {
    run(command) {
      const from = performance.now();
      while (performance.now() - from <= command.withinMs);
      return memory.run(command);
    },
  };
  const guard = guardOf({ codec: testCodec(clock), ledger, timeLimit: 0.1 });
  await assert.rejects(guard.revoke(alice), /expected an answer in time, found none/);
});
