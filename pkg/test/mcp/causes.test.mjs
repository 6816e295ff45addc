// What the log says of a function or a store that failed: a code and a class, and never a text of the error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from './valkey.mjs';
import { guardOf, inTool } from './wire.mjs';

const SECRET = 'hunter2';

/** What is logged where somebody is signed out, while `ledger` fails so. */
async function logged(run) {
  const lines = [];
  const guard = guardOf({ ledger: { run }, logger: { warn: (...line) => lines.push(line) } });
  await assert.rejects(guard.revoke({ subject: 'alice' }));
  assert.doesNotMatch(JSON.stringify(lines), new RegExp(SECRET));
  return lines.at(-1)[1].message;
}

test('a function that asks a service which is down', async () => {
  const down = `http://127.0.0.1:${await freePort()}/?key=${SECRET}`;
  const found = 'expected an answer, found ECONNREFUSED (TypeError)';
  assert.equal(await logged(() => fetch(down)), `ledger: ${found}`);
  const told = [];
  const options = { principal: () => fetch(down), onRefused: ({ message }) => told.push(message) };
  await assert.rejects(
    inTool(guardOf(options), () => {}),
    { code: -32603 },
  );
  assert.deepEqual(told, [`principal: ${found}`]);
});

test('what is no code is not told, wherever it stands', async () => {
  class ReplyError extends Error {}
  class Circle extends Error {
    cause = this;
  }
  for (const [error, found] of [
    [new Error(SECRET), 'Error'],
    [new Error(SECRET, { cause: new RangeError(SECRET) }), 'Error'],
    [Object.assign(new Error(SECRET), { code: SECRET }), 'Error'],
    [Object.assign(new Error(SECRET), { code: 'ETIMEDOUT' }), 'ETIMEDOUT'],
    [Object.assign(new Error(SECRET), { errstr: 'database is locked' }), 'database is locked'],
    [new Error(`WRONGPASS ${SECRET}`), 'Error'],
    [new ReplyError(`WRONGPASS ${SECRET}`), 'WRONGPASS (ReplyError)'],
    [new ReplyError(`ERR ${SECRET}`), 'ReplyError'],
    [new AggregateError([1, { code: 'ENETUNREACH' }], SECRET), 'ENETUNREACH (AggregateError)'],
    [new Circle(SECRET), 'Circle'],
    [SECRET, 'String'],
    [undefined, 'Object'],
    [Object.create(null), 'an error'],
    [new Proxy({}, { get: () => SECRET.missing.missing }), 'an error'],
  ]) {
    const expected = `ledger: expected an answer, found ${found}`;
    assert.equal(await logged(() => Promise.reject(error)), expected);
  }
});
