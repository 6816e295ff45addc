// Where a refusal is logged: on the console with time and level, or by a logger of the author's with its fields.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { Guard } from 'sealwax/mcp';
import { codec, factoryOf, modern, overHttp, text } from './wire.mjs';

const alice = { issuer: 'https://idp.example.com', client: 'cli-7', subject: 'alice' };
const { warn, error } = console;
afterEach(() => Object.assign(console, { warn, error }));

/** Presents what is no token, to a guard with these options; returns the client's error. */
async function refused(options = {}) {
  const guard = new Guard({ codec, principal: () => alice, ...options });
  const factory = factoryOf({ 'tools/call': () => text('ran') }, guard);
  const params = { name: 'ask', arguments: {}, requestState: 'x' };
  const { messages } = await overHttp(factory, ...modern(1, 'tools/call', params));
  return messages[0].error?.code;
}

const failing = {
  ledger: {
    run() {
      throw Object.assign(new Error('a secret'), { code: 'ECONNREFUSED' });
    },
  },
};
const where = 'kind=session method="tools/call" target="ask"';
const who = 'issuer="https://idp.example.com" client="cli-7" subject="alice"';

test('without a logger: on the console, after the time and the level', async () => {
  const said = { warn: [], error: [] };
  for (const level of ['warn', 'error']) console[level] = (...told) => said[level].push(told);
  assert.equal(await refused(), -32602);
  assert.equal(await refused({ principal: () => Promise.reject(new Error('a secret')) }), -32603);
  assert.deepEqual([said.warn.length, said.error.length], [1, 1]);
  const [[line], [broken]] = [said.warn[0], said.error[0]];
  assert.match(
    line,
    /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z WARN sealwax: malformed kind=request-state method="tools\/call" /,
  );
  assert.ok(line.includes(` target="ask" ${who} message="expected a sealed token`));
  assert.match(broken, /^20\S+Z ERROR sealwax: invalid_argument kind=request-state /);
  assert.match(broken, / message="principal: expected an answer, found Error"$/);
});

test('with a logger: the line and its fields, by its level', async () => {
  const said = [];
  const logger = {
    warn: (...told) => said.push(['warn', ...told]),
    error: (...told) => said.push(['error', ...told]),
  };
  await refused({ logger });
  await refused({ logger, ...failing });
  await refused({ logger: { warn: logger.warn }, ...failing });
  const [[, line, { time, message, ...fields }], [level, , { code }], [without]] = said;
  assert.deepEqual(fields, {
    ...{ level: 'warn', code: 'malformed', kind: 'request-state', method: 'tools/call' },
    ...{ target: 'ask', ...alice },
  });
  assert.match(time, /^20\S+Z$/);
  assert.ok(line.endsWith(` ${who} message=${JSON.stringify(message)}`));
  assert.ok(line.startsWith('sealwax: malformed '));
  assert.deepEqual([level, code, without], ['error', 'ledger_unavailable', 'warn']);
  assert.ok(said[1][1].includes(where), said[1][1]);
});

test('a logger that fails changes no answer', async () => {
  const throws = () => {
    throw new Error('the disk is full');
  };
  assert.equal(await refused({ logger: { warn: throws } }), -32602);
  assert.equal(await refused({ logger: { warn: async () => throws() } }), -32602);
});
