// Between a guard and its ledger, without a store: what a ledger warns of, one that fails, and one that is late.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LedgerUnfit, SqliteLedger } from 'sealwax/mcp';
import { TestClock, testCodec, testLedger } from 'sealwax/testing';
import { database, noSqlite } from './stores.mjs';
import { guardOf, telling } from './wire.mjs';

const alice = { subject: 'alice' };

test('what a ledger warns of is logged once, as soon as it is known', async () => {
  const clock = new TestClock();
  const memory = testLedger(clock);
  const ledger = {
    run(command) {
      ledger.warnings = ['it forgets', 'and soon'];
      return memory.run(command);
    },
  };
  const { guard, lines } = telling({ codec: testCodec(clock), ledger });
  assert.deepEqual(lines, []);
  for (let times = 0; times < 2; times += 1) await guard.revoke(alice);
  assert.deepEqual(lines, ['sealwax: ledger: it forgets', 'sealwax: ledger: and soon']);
});

test('an author warns of something else each time, and then cannot say of what', async () => {
  const clock = new TestClock();
  const memory = testLedger(clock);
  let asked = 0;
  const ledger = {
    run: (command) => memory.run(command),
    get warnings() {
      asked += 1;
      if (asked > 150) throw new Error('nothing to say');
      return [`it was asked ${asked} times`];
    },
  };
  const { guard, lines } = telling({ codec: testCodec(clock), ledger });
  for (let times = 0; times < 160; times += 1) await guard.revoke(alice);
  assert.equal(lines.length, 100);
});

test('one that cannot be a ledger, or that is late, records nothing, and the log says why', {
  timeout: 10_000,
}, async () => {
  const clock = new TestClock();
  const memory = testLedger(clock);
  // Its answer was made too late, though it is there at once.
  const busy = (command) => {
    const from = performance.now();
    while (performance.now() - from <= command.withinMs);
    return memory.run(command);
  };
  const late = /expected an answer in time, found none/;
  for (const [run, told] of [
    [() => Promise.reject(new LedgerUnfit('it would lose records')), /it would lose records/],
    [() => new Promise(() => {}), late],
    [busy, late],
  ]) {
    const options = { codec: testCodec(clock), ledger: { run }, timeLimit: 0.1 };
    const { guard, lines } = telling(options);
    await assert.rejects(guard.revoke(alice), told);
    assert.match(lines.at(-1), told);
  }
});

test('SQLite: a command that failed leaves nothing open', { skip: noSqlite }, async () => {
  const ledger = new SqliteLedger(database(':memory:'));
  assert.throws(() => ledger.run({ script: 'none', keys: [], args: [] }));
  const guard = guardOf({ ledger });
  await guard.revoke(alice);
});
