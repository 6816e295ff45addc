// What a handler is given is what the guard opened, and nothing that a client wrote.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { InMemoryTransport, inputRequired } from '@modelcontextprotocol/server';
import { LEGACY, MODERN } from './client.mjs';
import { ANYTHING, factoryOf, guardOf, modern, overHttp, overStdio, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';

/** A server of each revision, and what it answers to one request. */
const ways = {
  [`HTTP, ${MODERN}`]: async (factory, method, params) =>
    (await overHttp(factory, ...modern(1, method, params))).messages.at(-1),
  [`HTTP, ${LEGACY}`]: async (factory, method, params) => {
    const message = { jsonrpc: '2.0', id: 1, method, params };
    return (await overHttp(factory, message, { 'mcp-protocol-version': LEGACY })).messages.at(-1);
  },
  [`stdio, ${MODERN}`]: (factory, method, params) => lined(MODERN, factory, method, params),
  [`stdio, ${LEGACY}`]: (factory, method, params) => lined(LEGACY, factory, method, params),
};

async function lined(era, factory, method, params) {
  const line = await overStdio(factory, { era });
  line.request('it', method, params);
  const answer = await line.came.first(({ id }) => id === 'it');
  await line.close();
  return answer;
}

for (const [way, answerOf] of Object.entries(ways)) {
  test(`${way}: no other spelling of _meta brings a session`, async () => {
    const guard = guardOf();
    const sessions = guard.sessions({ initial: () => 'the value' });
    const handlers = {
      'tools/call': (_, ctx) => text(JSON.stringify(sessions.of(ctx)?.value ?? null)),
      'tools/list': () => ({ tools: [] }),
    };
    const created = await answerOf(factoryOf(handlers, guard), 'sessions/create', {});
    const { sessionId, state } = created.result.session;
    const metadata = { [META]: { sessionId, state } };
    const call = { name: 'x', arguments: {} };
    for (const [where, value] of [
      [{ _meta: metadata }, '"the value"'],
      [{ meta: metadata }, 'null'],
      [{ _meta: { session: metadata[META] } }, 'null'],
      [{ ...metadata }, 'null'],
    ]) {
      const { result } = await answerOf(factoryOf(handlers, guard), 'tools/call', {
        ...call,
        ...where,
      });
      assert.equal(result.content[0].text, value, JSON.stringify(Object.keys(where)));
      assert.equal(result._meta?.[META] === undefined, value === 'null');
    }
  });

  test(`${way}: a name of a tool that is none is refused as without a guard`, async () => {
    const handlers = { 'tools/list': () => ({ tools: [] }), 'tools/call': () => text('ran') };
    for (const name of [['x'], {}, 7, null, true, undefined]) {
      const call = { name, arguments: {} };
      const answers = [];
      for (const guard of [guardOf(), undefined]) {
        answers.push(await answerOf(factoryOf(handlers, guard), 'tools/call', call));
      }
      assert.deepEqual(answers[0], answers[1]);
      assert.equal(typeof answers[0].error.code, 'number');
    }
  });
}

test('what the SDK gets of a state is sealed; the guard has it opened', async () => {
  const guard = guardOf();
  const handlers = {
    'tools/call': ({ params }, ctx) => {
      const state = guard.opened(ctx);
      const sealed = ctx.mcpReq.requestState();
      if (state) return text(JSON.stringify({ state, params, sealed }));
      return inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
    },
  };
  const factory = factoryOf(handlers, guard);
  const call = { name: 'x', arguments: { id: 7 } };
  const [asked] = (await overHttp(factory, ...modern(1, 'tools/call', call))).messages;
  const { requestState } = asked.result;
  const [told] = (await overHttp(factory, ...modern(2, 'tools/call', { ...call, requestState })))
    .messages;
  const { state, params, sealed } = JSON.parse(told.result.content[0].text);
  assert.deepEqual([state, sealed], [{ asked: 7 }, requestState]);
  assert.ok(!JSON.stringify(params).includes('asked'));
});

test('a method that carries no state gets none', async () => {
  const guard = guardOf();
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const server = factoryOf({}, guard)();
  const states = [];
  server.setRequestHandler('demo/own', { params: ANYTHING }, (_, ctx) => {
    states.push(ctx.mcpReq.requestState());
    return {};
  });
  await theirs.start();
  await server.connect(ours);
  const answers = [];
  theirs.onmessage = (message) => answers.push(message);
  for (const [id, _meta] of [undefined, {}].entries()) {
    const params = { requestState: '{"asked":7}', ...(_meta !== undefined && { _meta }) };
    await theirs.send({ jsonrpc: '2.0', id, method: 'demo/own', params });
    await new Promise(setImmediate);
  }
  assert.equal(answers.length, 2);
  assert.deepEqual(states, [undefined, undefined]);
});

// ---- what is bound ----

for (const [way, era] of [
  ['HTTP', MODERN],
  ['stdio', LEGACY],
]) {
  test(`${way}: to a number out of range no state is bound, and it is not the same as none`, async () => {
    const lines = [];
    const guard = guardOf({ logger: { warn: (line) => lines.push(line) } });
    let runs = 0;
    const handlers = {
      'tools/list': () => ({ tools: [] }),
      'tools/call': (_, ctx) => {
        runs += 1;
        if (ctx.mcpReq.requestState()) return text('done');
        return text(guard.state(ctx, { asked: 7 }));
      },
    };
    const factory = factoryOf(handlers, guard);
    const [message, headers] = modern('it', 'tools/call', { name: 'x', arguments: { most: '?' } });
    const call = async (most, requestState) => {
      const params = { ...message.params, requestState };
      const body = JSON.stringify({ ...message, params }).replace('"?"', most);
      if (era === MODERN) return (await overHttp(factory, body, headers)).messages[0];
      const line = await overStdio(factory, { era });
      line.write(body);
      const answer = await line.came.first(({ id }) => id === 'it');
      await line.close();
      return answer;
    };
    const requestState = (await call('null')).result.content[0].text;
    assert.equal((await call('null', requestState)).result.content[0].text, 'done');
    for (const most of ['1e400', '-1e400', '[{"a":1e400}]', `1${'0'.repeat(400)}`]) {
      const { result } = await call(most, requestState);
      assert.ok(result.isError);
      assert.match(result.content[0].text, /^Invalid arguments\. argument "most": expected/);
      // The handler runs, and can seal none.
      assert.equal((await call(most)).error.code, -32603);
    }
    assert.equal(runs, 6);
    for (const code of ['invalid_request', 'invalid_argument'])
      assert.equal(lines.filter((line) => line.includes(` ${code} `)).length, 4);
  });
}

// ---- what is logged ----

test('what a client sent stands in a log quoted and cut, and never on a line of its own', async () => {
  const lines = [];
  const events = [];
  const guard = guardOf({
    logger: { warn: (line) => lines.push(line) },
    onRefused: (event) => events.push(event),
  });
  guard.sessions({ initial: () => 0, required: true });
  const factory = () => {
    const server = factoryOf({ 'tools/list': () => ({ tools: [] }) }, guard)();
    server.fallbackRequestHandler = async () => ({});
    return server;
  };
  const evil = `x\r\nsealwax: session: all is well\u001b[2J\u2028\u0000"\\é${'y'.repeat(900)}`;
  for (const answerOf of Object.values(ways)) {
    const { error } = await answerOf(factory, evil, {}).catch((error) => ({ error }));
    if (error.code !== -32043) assert.match(`${error}`, /header|Cannot convert/i);
  }
  assert.ok(lines.length >= 2);
  for (const told of lines) {
    assert.match(told, /^[ -~]*$/);
    assert.ok(told.length < 300, told);
    assert.match(
      told,
      / method="x\\u000d\\u000asealwax: session: all is well\\u001b\[2J\\u2028\\u0000\\"\\\\\\u00e9y+" /,
    );
  }
  const [, name] = lines[0].match(/ method=("(?:[^"\\]|\\.)*")/);
  assert.equal(JSON.parse(name), Array.from(evil).slice(0, 64).join(''));
  for (const { message } of events) assert.doesNotMatch(message, /all is well/);
});
