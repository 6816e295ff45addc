// Where a refusal is logged: on the console with time and level, or by a logger of the author's with its fields.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Guard } from 'sealwax/mcp';
import { called, codec, factoryOf, text } from './wire.mjs';

const alice = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
const who = 'issuer="https://idp.example.com" client="cli-7" subject="alice"';

/** Presents what is no token, to a guard with these options; returns the client's error. */
async function refused(options = {}) {
  const guard = new Guard({ codec, principal: () => alice, ...options });
  const factory = factoryOf({ 'tools/call': () => text('ran') }, guard);
  return (await called(factory, { requestState: 'x' })).error?.code;
}

const fails = () => Promise.reject(new Error('a secret'));

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
  assert.ok(line.includes(` target="x" ${who} message="expected a sealed token`));
  assert.match(broken, /^20\S+Z ERROR sealwax: invalid_argument kind=request-state /);
  assert.match(broken, / message="principal: expected an answer, found Error"$/);
});

test('with a logger: the line and its fields, by its level', async () => {
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
  assert.ok(line.endsWith(` ${who} message=${JSON.stringify(message)}`));
  assert.ok(line.startsWith('sealwax: malformed '));
  assert.deepEqual([level, code, without], ['error', 'ledger_unavailable', 'warn']);
  assert.ok(failed.includes('kind=session method="tools/call" target="x"'), failed);
});

test('a logger that fails changes no answer', async () => {
  const throws = () => {
    throw new Error('the disk is full');
  };
  for (const warn of [throws, async () => throws()])
    assert.equal(await refused({ logger: { warn } }), -32602);
});
