// `sealwax/testing`, as the tests of an application use it.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { Codec, Key } from 'sealwax';
import { Guard, principalFromAuthInfo } from 'sealwax/mcp';
import {
  connect,
  TEST_AUDIENCE,
  TestClock,
  testCodec,
  testLedger,
  testPrincipal,
} from 'sealwax/testing';
import { asking, factoryOf } from './wire.mjs';

/** The `fetch` of a server of one tool, which takes two rounds. */
function counting(guard) {
  const handlers = { 'tools/call': asking(guard), 'tools/list': () => ({ tools: [] }) };
  return createMcpHandler(factoryOf(handlers, guard)).fetch;
}

const first = async (client) =>
  (await client.callTool({ name: 'count' }, { allowInputRequired: true })).requestState;

/** What the tool says; `undefined` if the guard refuses. */
async function second(client, requestState) {
  try {
    return (await client.callTool({ name: 'count', requestState })).content[0].text;
  } catch {
    return undefined;
  }
}

test('the time and the user are the tests', async () => {
  const clock = new TestClock('2027-01-15T08:00:00Z');
  const principal = testPrincipal({ subject: 'alice' });
  const refused = [];
  const guard = new Guard({
    codec: testCodec(clock),
    principal,
    ledger: testLedger(clock),
    onRefused: ({ code }) => void refused.push(code),
    logger: { warn() {} },
  });
  const client = await connect(counting(guard));
  const state = await first(client);
  const said = async (seconds, user, again = state) => {
    clock.advance(seconds);
    principal.set(user);
    return second(client, again);
  };
  const alice = { subject: 'alice' };
  assert.equal(await said(0, { subject: 'mallory' }), undefined);
  assert.equal(await said(0, undefined), undefined);
  assert.equal(await said(599, alice), 'done');
  assert.equal(await said(0, alice), undefined);
  const other = await first(client);
  assert.equal(await said(600, alice, other), undefined);
  clock.set('2027-01-15T08:10:00Z');
  assert.equal(await said(0, alice, other), 'done');
  assert.equal(clock.now.toISOString(), '2027-01-15T08:10:00.000Z');
  assert.deepEqual(refused, ['principal_mismatch', 'unauthenticated', 'used', 'expired']);
  await client.close();
});

test('a codec has a key of its own, limits, and a clock that is its alone', () => {
  const clock = new TestClock();
  assert.ok(Math.abs(clock.now - Date.now()) < 60_000);
  const bytes = new Uint8Array([2, 2]);
  const of = (codec) => codec.view({ subject: 'alice' }).cursor('tools/list');
  const token = of(testCodec(clock)).seal(bytes);
  assert.throws(() => of(testCodec(clock)).open(token), { code: 'unknown_key' });
  assert.throws(() => of(testCodec(clock, { payloadLimit: 1 })).seal(bytes), { code: 'too_large' });

  const keys = Key.generate().toText();
  const one = of(testCodec(clock, { keys }));
  clock.advance(3600);
  assert.deepEqual(of(testCodec(clock, { keys })).open(one.seal(bytes)).payload, bytes);
  // Another clock is another time, as the real one is.
  for (const other of [
    new Codec({ keys, audience: TEST_AUDIENCE }),
    testCodec(new TestClock(), { keys }),
  ])
    assert.throws(() => of(other).open(one.seal(bytes)), { code: 'not_yet_valid' });
  assert.throws(() => clock.set('never'), RangeError);
  assert.throws(() => testPrincipal('alice'), TypeError);
});

test("the application's own fetch, with its authentication", async () => {
  const guard = new Guard({ codec: testCodec(new TestClock()), principal: principalFromAuthInfo });
  const inner = counting(guard);
  const claims = { iss: 'https://idp.example.com', sub: 'alice' };
  const authInfo = { token: 'x', clientId: 'app', scopes: [], extra: { claims } };
  const handler = (request) =>
    request.headers.get('authorization') === 'Bearer good'
      ? inner(request, { authInfo })
      : Promise.resolve(new Response(undefined, { status: 401 }));
  await assert.rejects(connect(handler));
  const signedIn = await connect(handler, { headers: { authorization: 'Bearer good' } });
  assert.equal(await second(signedIn, await first(signedIn)), 'done');
  // Or what the authentication would say.
  const told = await connect(inner, { authInfo });
  assert.equal(await second(signedIn, await first(told)), 'done');
});

test('sessions of an older revision', async () => {
  const guard = new Guard({ codec: testCodec(new TestClock()), principal: 'anonymous' });
  const handler = guard.fetch(counting(guard));
  const client = await connect(handler, { client: { versionNegotiation: { mode: 'legacy' } } });
  assert.match(client.transport.sessionId, /^sw1\./);
  assert.deepEqual((await client.listTools()).tools, []);
  await client.close();
});

test('CommonJS', async () => {
  const require = createRequire(import.meta.url);
  const testing = require('sealwax/testing');
  const { Guard } = require('sealwax/mcp');
  const codec = testing.testCodec(new testing.TestClock());
  const client = await testing.connect(counting(new Guard({ codec, principal: 'anonymous' })));
  assert.equal(await second(client, await first(client)), 'done');
});
