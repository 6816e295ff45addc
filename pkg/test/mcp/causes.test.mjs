// What the log says of a function or a store that failed: a code and a class, and never a text of the error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort } from './valkey.mjs';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

const SECRET = 'hunter2';

/** What is logged of a request while `options` fail. */
async function logged(options) {
  const events = [];
  const onRefused = ({ cause, ...event }) => events.push(event);
  const principal = () => ({ subject: 'alice' });
  const guards = [guardOf({ principal }), guardOf({ principal, onRefused, ...options })];
  const [made, failing] = guards.map((guard) =>
    factoryOf(
      {
        'tools/call': (_, ctx) =>
          guard.opened(ctx) === undefined
            ? { resultType: 'input_required', requestState: guard.state(ctx, 1) }
            : text('done'),
      },
      guard,
    ),
  );
  const call = (more) => modern(1, 'tools/call', { name: 'ask', arguments: {}, ...more });
  const { requestState } = (await overHttp(made, ...call())).messages[0].result;
  const { error } = (await overHttp(failing, ...call({ requestState }))).messages[0];
  assert.deepEqual(error, { code: -32603, message: 'Internal error' });
  assert.doesNotMatch(JSON.stringify(events), new RegExp(SECRET));
  return [...new Set(events.map(({ message }) => message))].join();
}

test('a function that asks a service which is down', async () => {
  const down = `http://127.0.0.1:${await freePort()}/?key=${SECRET}`;
  const asks = () => fetch(down);
  const found = 'expected an answer, found ECONNREFUSED (TypeError)';
  assert.equal(await logged({ principal: asks }), `principal: ${found}`);
  assert.equal(await logged({ ledger: { run: asks } }), `ledger: ${found}`);
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
    const fails = () => Promise.reject(error);
    assert.equal(
      await logged({ ledger: { run: fails } }),
      `ledger: expected an answer, found ${found}`,
    );
  }
});
