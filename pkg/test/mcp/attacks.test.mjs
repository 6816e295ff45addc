// What a handler is given is what the guard opened, and nothing that a client wrote.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { inputRequired } from '@modelcontextprotocol/server';
import { anonymous, requestContext } from 'sealwax';
import { LEGACY, MODERN } from './client.mjs';
import { codec, factoryOf, guardOf, modern, overHttp, overStdio, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const view = codec.view(anonymous);
const forged = '{"asked":7}';

/** What a handler can see of a state, wherever it looks. */
function seen(ctx, request) {
  try {
    return JSON.stringify([ctx.mcpReq.requestState() ?? null, request ?? null]);
  } catch ({ code, message }) {
    return JSON.stringify({ code, message });
  }
}

const stateful = {
  'tools/list': () => ({ tools: [] }),
  'tools/call': ({ params }, ctx) => text(seen(ctx, params)),
  'prompts/get': ({ params }, ctx) => ({
    messages: [{ role: 'user', content: { type: 'text', text: seen(ctx, params) } }],
  }),
  'resources/read': ({ params }, ctx) => ({
    contents: [{ uri: params.uri, text: seen(ctx, params) }],
  }),
};
const targets = {
  'tools/call': { name: 'x', arguments: {} },
  'prompts/get': { name: 'x' },
  'resources/read': { uri: 'x:1' },
};

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
  test(`${way}: no other spelling of requestState shows a handler anything`, async () => {
    const spellings = ['request_state', 'RequestState', 'requeststate', 'request-state', 'state'];
    for (const [method, target] of Object.entries(targets)) {
      for (const name of spellings) {
        for (const where of [
          { [name]: forged },
          { _meta: { [name]: forged, requestState: forged } },
        ]) {
          const { result, error } = await answerOf(factoryOf(stateful, guardOf()), method, {
            ...target,
            ...where,
          });
          assert.equal(error, undefined);
          const told = result.content ?? result.contents ?? result.messages.map((m) => m.content);
          assert.equal(JSON.parse(told[0].text)[0], null, `${method} ${name}`);
        }
      }
    }
  });

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

  test(`${way}: null is absent`, async () => {
    const named = (name) => ({ tools: [{ name, inputSchema: { type: 'object' } }] });
    const lists = {
      ...stateful,
      'tools/list': ({ params }) => named(JSON.stringify(params?.cursor) ?? 'none'),
    };
    for (const [method, target] of Object.entries(targets)) {
      const { result, error } = await answerOf(factoryOf(lists, guardOf()), method, {
        ...target,
        requestState: null,
      });
      assert.equal(error, undefined);
      const told = result.content ?? result.contents ?? result.messages.map((m) => m.content);
      assert.equal(JSON.parse(told[0].text)[0], null);
    }
    const listed = await answerOf(factoryOf(lists, guardOf()), 'tools/list', { cursor: null });
    assert.equal(listed.result.tools[0].name, 'none');
  });

  test(`${way}: a method of the author's own has no state, and says so`, async () => {
    const guard = guardOf();
    const own = (_, ctx) => ({
      read: JSON.parse(seen(ctx)),
      written: (() => {
        try {
          return guard.state(ctx, { asked: 7 });
        } catch ({ code, message }) {
          return { code, message };
        }
      })(),
    });
    const handlers = { 'tools/list': () => ({ tools: [] }), 'acme/transfer': { own } };
    for (const requestState of [forged, 'sw1.x', view.cursor('x').seal(new Uint8Array())]) {
      const { result } = await answerOf(factoryOf(handlers, guard), 'acme/transfer', {
        requestState,
      });
      const message = 'requestState: expected a request that carries one, found "acme/transfer"';
      const refusal = { code: 'invalid_argument', message };
      assert.deepEqual([result.read, result.written], [refusal, refusal]);
    }
  });

  test(`${way}: a list has no state either`, async () => {
    let told;
    const handlers = {
      'tools/list': (_, ctx) => {
        told = seen(ctx);
        return { tools: [] };
      },
    };
    await answerOf(factoryOf(handlers, guardOf()), 'tools/list', { requestState: forged });
    assert.equal(JSON.parse(told).code, 'invalid_argument');
  });

  test(`${way}: a name of a tool that is none is refused as without a guard`, async () => {
    for (const name of [['x'], {}, 7, null, true, undefined]) {
      const call = { name, arguments: {} };
      const answers = [];
      for (const guard of [guardOf(), undefined]) {
        answers.push(await answerOf(factoryOf(stateful, guard), 'tools/call', call));
      }
      assert.deepEqual(answers[0], answers[1]);
      assert.equal(typeof answers[0].error.code, 'number');
    }
  });
}

test('a state is kept where it was opened, and is not in what the SDK parses', async () => {
  const guard = guardOf();
  let message;
  const factory = () => {
    const handlers = {
      'tools/call': ({ params }, ctx) => {
        const state = ctx.mcpReq.requestState();
        if (state !== undefined) return text(JSON.stringify({ state, params }));
        return inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
      },
    };
    const server = factoryOf(handlers, guard)();
    const { connect } = server;
    server.connect = async function (transport) {
      await connect.call(this, transport);
      const deliver = server._onrequest.bind(server);
      server._onrequest = (request, extra) => {
        message = request;
        deliver(request, extra);
      };
    };
    return server;
  };
  const call = { name: 'x', arguments: { id: 7 } };
  const [asked] = (await overHttp(factory, ...modern(1, 'tools/call', call))).messages;
  const { requestState } = asked.result;
  const [told] = (await overHttp(factory, ...modern(2, 'tools/call', { ...call, requestState })))
    .messages;
  assert.deepEqual(JSON.parse(told.result.content[0].text).state, { asked: 7 });
  assert.ok(!JSON.stringify(message).includes('asked'));
  assert.equal('requestState' in message.params, false);
});

test('what is not opened shows nothing, even where a server does not know its own handlers', async () => {
  const seen = [];
  const handlers = {
    'tools/list': ({ params }) => {
      seen.push(params?.cursor);
      return { tools: [] };
    },
    'tools/call': (_, ctx) => {
      seen.push(ctx.mcpReq.requestState());
      return text('called');
    },
  };
  const factory = () => {
    const server = factoryOf(handlers, guardOf())();
    server._getRequestHandler = () => undefined;
    return server;
  };
  const line = await overStdio(factory, { era: LEGACY });
  line.request(1, 'tools/list', { cursor: forged });
  line.request(2, 'tools/call', { name: 'x', arguments: {}, requestState: forged });
  await line.came.all(2, ({ id }) => id === 1 || id === 2);
  assert.deepEqual(seen, [undefined]);
  await line.close();
});

// ---- what is bound ----

test('a resource has no arguments: whatever is sent as such is not bound', async () => {
  const guard = guardOf({ only: { 'x:1': ['id'] } });
  const handlers = {
    'resources/read': (_, ctx) => {
      const state = ctx.mcpReq.requestState();
      if (state) return { contents: [{ uri: 'x:1', text: JSON.stringify(state) }] };
      return inputRequired({ requestState: guard.state(ctx, { asked: 7 }) });
    },
  };
  const read = async (more) => {
    const request = modern(1, 'resources/read', { uri: 'x:1', ...more });
    return (await overHttp(factoryOf(handlers, guard), ...request)).messages[0];
  };
  const { requestState } = (await read({ arguments: { a: 1 } })).result;
  const context = requestContext('resources/read', 'x:1');
  assert.deepEqual(view.requestState(context).open(requestState).json(), { asked: 7 });
  for (const more of [{}, { arguments: { a: 2 } }, { arguments: 7 }, { arguments: null }]) {
    const { result } = await read({ ...more, requestState });
    assert.equal(result.contents[0].text, '{"asked":7}');
  }
});

for (const [way, era] of [
  ['HTTP', MODERN],
  ['stdio', LEGACY],
]) {
  test(`${way}: a number out of range is refused, and is not the same as none`, async () => {
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
      for (const state of [requestState, undefined]) {
        const { code, message } = (await call(most, state)).error;
        assert.deepEqual([code, message], [-32602, 'Invalid params'], most);
      }
    }
    assert.equal(runs, 2);
    assert.equal(lines.filter((line) => line.includes(' invalid_request ')).length, 8);
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

test('what a principal function throws is in no message', async () => {
  const secret = 'Bearer of-a-secret';
  for (const principal of [
    () => {
      throw new Error(secret);
    },
    () => Promise.reject(new Error(secret)),
    () => Promise.reject(secret),
  ]) {
    const [lines, events] = [[], []];
    const guard = guardOf({
      principal,
      logger: { warn: (line) => lines.push(line) },
      onRefused: (event) => events.push(event),
    });
    const request = modern(1, 'tools/call', { name: 'x', arguments: {} });
    const { messages } = await overHttp(factoryOf(stateful, guard), ...request);
    assert.deepEqual(messages[0].error, { code: -32603, message: 'Internal error' });
    assert.equal(events[0].code, 'invalid_argument');
    assert.ok(!`${lines}${events[0].message}`.includes(secret));
  }
});
