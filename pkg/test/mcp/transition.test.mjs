// Tokens of the SDK's own codec, which clients have when the guard takes its place; and a refusal of `protect`.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { createMcpHandler, createRequestStateCodec } from '@modelcontextprotocol/server';
import { Guard, MemoryLedger, openerOf } from 'sealwax/mcp';
import { codec, factoryOf, guardOf, modern, overHttp, requestOf } from './wire.mjs';

const { now } = Date;
afterEach(() => {
  Date.now = now;
});

const key = 'a key of the server that there was before';
const bind = (ctx) => `${ctx.http?.authInfo?.clientId ?? 'nobody'} ${ctx.mcpReq.method}`;
const until = new Date(now() + 3_600_000);
const params = (requestState) => ({ name: 'delete', arguments: { id: 7 }, requestState });
const call = (factory, requestState) =>
  overHttp(factory, ...modern(1, 'tools/call', params(requestState)));

/** A tool that asks, and then tells what it asked. */
function asking(seal, guard) {
  return factoryOf(
    {
      'tools/call': async (_, ctx) => {
        const asked = ctx.mcpReq.requestState();
        if (asked !== undefined)
          return { content: [{ type: 'text', text: JSON.stringify(asked) }] };
        return { resultType: 'input_required', requestState: await seal(ctx, { id: 7 }) };
      },
    },
    guard,
  );
}

/** What a client holds from before. */
async function held(sdk = createRequestStateCodec({ key, bind })) {
  const { messages } = await call(asking((ctx, value) => sdk.mint(value, ctx)));
  return messages[0].result.requestState;
}

function guarded(options = {}, open = openerOf(createRequestStateCodec({ key, bind }))) {
  const refused = [];
  const onRefused = ({ code }) => refused.push(code);
  const guard = guardOf({ onRefused, transition: { open, until }, ...options });
  return [asking((ctx, value) => guard.state(ctx, value), guard), refused];
}

const errorOf = ({ messages }) => messages[0].error?.code;

test("what the SDK's codec made is accepted until the date, and ours is made", async () => {
  const before = await held();
  const [factory, refused] = guarded();
  const { messages } = await call(factory, before);
  assert.equal(messages[0].result.content[0].text, '{"id":7}');
  const first = (await call(factory)).messages[0].result.requestState;
  assert.match(first, /^sw1\./);
  assert.equal((await call(factory, first)).messages[0].result.content[0].text, '{"id":7}');
  assert.deepEqual(refused, []);

  Date.now = () => until.getTime();
  assert.equal(errorOf(await call(factory, before)), -32602);
  assert.deepEqual(refused, ['malformed']);
});

test('what that codec refuses is refused, and what it fails at is an error of the server', async () => {
  const [factory, refused] = guarded();
  const before = await held();
  const other = createRequestStateCodec({ key: key.toUpperCase(), bind });
  const elsewhere = createRequestStateCodec({ key, bind: () => 'another' });
  const late = createRequestStateCodec({ key, bind, ttlSeconds: -1 });
  const foreign = [
    `${before}A`,
    await held(other),
    await held(elsewhere),
    await held(late),
    'none',
  ];
  for (const token of foreign) assert.equal(errorOf(await call(factory, token)), -32602, token);
  assert.deepEqual(
    refused,
    foreign.map(() => 'malformed'),
  );
  for (const open of [
    () => {
      throw new Error('no store');
    },
    () => new Promise(() => {}),
    () => 7,
  ]) {
    const [failing, failures] = guarded({ timeLimit: 0.05 }, open);
    assert.equal(errorOf(await call(failing, before)), -32603);
    assert.deepEqual(failures, ['accept_unavailable']);
  }
});

test('with a ledger it counts once', async () => {
  const ledgerOptions = { acceptIssuedSince: Math.floor(now() / 1000) - 60 };
  const [factory, refused] = guarded({ ledger: new MemoryLedger(), ledgerOptions });
  const before = await held();
  assert.equal(errorOf(await call(factory, before)), undefined);
  assert.equal(errorOf(await call(factory, before)), -32602);
  assert.deepEqual(refused, ['used']);
});

test('options of a transition are checked', () => {
  const given = (transition) => () => new Guard({ codec, principal: 'anonymous', transition });
  assert.throws(given({ until }), TypeError);
  for (const wrong of [undefined, new Date('never'), -1, '2027']) {
    assert.throws(given({ open: () => '', until: wrong }), { code: 'invalid_argument' });
  }
});

test('a factory whose server cannot be protected is logged: the SDK answers 500, and says nothing', async () => {
  const said = [];
  const guard = guardOf({ logger: { warn: (line) => said.push(line) } });
  const factory = () => {
    const server = factoryOf({})();
    server._requestStateVerify = async () => {};
    return guard.protect(server);
  };
  const response = await createMcpHandler(factory).fetch(requestOf(...modern(1, 'tools/list')));
  assert.equal(response.status, 500);
  assert.equal(said.length, 1);
  assert.match(
    said[0],
    /invalid_argument.*protect: server: expected one without requestState\.verify/,
  );
});
