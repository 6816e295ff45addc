// Where a refusal is logged: on the console with time and level, or by a logger of the author's with its fields. Of a function or a
// store that failed it has a code and a class, and never a text of the error.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Guard } from 'sealwax/mcp';
import { called, codec, factoryOf, guardOf, text } from './wire.mjs';

const SECRET = 'hunter2';
const alice = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
const who = 'issuer="https://idp.example.com" client="cli-7" subject="alice"';

/** Presents what is no token, to a guard with these options; returns the client's error. */
async function refused(options = {}) {
  const guard = new Guard({ codec, principal: () => alice, ...options });
  const factory = factoryOf({ 'tools/call': () => text('ran') }, guard);
  return (await called(factory, { requestState: 'x' })).error?.code;
}

const fails = () => Promise.reject(new Error(SECRET));

test('without a logger: on the console, after the time and the level', async (t) => {
  const said = [];
  for (const level of ['warn', 'error'])
    t.mock.method(console, level, (...told) => said.push([level, ...told]));
  assert.equal(await refused(), -32602);
  assert.equal(await refused({ principal: fails }), -32603);
  const [[warn, line], [error, broken], ...more] = said;
  assert.deepEqual([warn, error, more], ['warn', 'error', []]);
  assert.match(
    line,
    /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN sealwax: malformed kind=request-state method="tools\/call" /,
  );
  assert.match(broken, /^20\S+Z ERROR sealwax: invalid_argument kind=request-state /);
  assert.match(broken, / message="principal: expected an answer, found Error"$/);
});

test('with a logger: the line and its fields, by its level; that it fails changes no answer', async () => {
  const said = [];
  const [warn, error] = ['warn', 'error'].map(
    (level) =>
      (...told) =>
        said.push([level, ...told]),
  );
  const failing = { ledger: { run: fails } };
  await refused({ logger: { warn, error } });
  await refused({ logger: { warn, error }, ...failing });
  await refused({ logger: { warn }, ...failing });
  const [[, line, { time, message, ...fields }], [level, failed, { code }], [without]] = said;
  assert.deepEqual(fields, {
    ...{ level: 'warn', code: 'malformed', kind: 'request-state', method: 'tools/call' },
    ...{ target: 'x', ...alice },
  });
  assert.match(time, /^20\S+Z$/);
  assert.ok(line.endsWith(` target="x" ${who} message=${JSON.stringify(message)}`));
  assert.deepEqual([level, code, without], ['error', 'ledger_unavailable', 'warn']);
  assert.ok(failed.includes('kind=session method="tools/call" target="x"'), failed);
  const throws = () => assert.fail('the disk is full');
  for (const warn of [throws, async () => throws()])
    assert.equal(await refused({ logger: { warn } }), -32602);
});

/** What is logged where somebody is signed out, while a ledger fails so. */
async function logged(run) {
  const lines = [];
  const guard = guardOf({ ledger: { run }, logger: { warn: (...line) => lines.push(line) } });
  await assert.rejects(guard.revoke({ subject: 'alice' }));
  assert.doesNotMatch(JSON.stringify(lines), new RegExp(SECRET));
  return lines.at(-1)[1].message;
}

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
    // As `fetch` fails where nobody listens.
    [new TypeError(SECRET, { cause: { code: 'ECONNREFUSED' } }), 'ECONNREFUSED (TypeError)'],
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
