// Confirmations on a connection: who answers, and what a call that is over leaves. All else is in the transcripts.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createMcpHandler } from '@modelcontextprotocol/server';
import { anonymous } from 'sealwax';
import { LEGACY } from './client.mjs';
import {
  called,
  factoryOf,
  guardOf,
  messagesOf,
  overStdio,
  requestOf,
  stateful,
  text,
  withCapabilities,
} from './wire.mjs';

const call = { name: 'delete_note', arguments: { id: 7 } };
const yes = { action: 'accept', content: { choice: 'yes' } };

/** The factory of a server of a guard, which of its tools ran, and what was refused; `lists` answers a request for them. */
function confirming({ principal, lists } = {}) {
  const [ran, refused] = [[], []];
  const guard = guardOf({
    ...{ principal: principal ?? (() => anonymous), onRefused: ({ code }) => refused.push(code) },
  });
  if (lists) guard.confirmDestructive();
  else guard.confirm('delete_note', 'Delete note {id}?');
  const handlers = {
    'tools/list': () => lists?.() ?? { tools: [] },
    'tools/call': ({ params }) => {
      ran.push(params.name);
      return text('done');
    },
  };
  return { guard, factory: factoryOf(handlers, guard), ran, refused };
}

/** A connection of a client that elicits. */
async function eliciting(factory) {
  const line = await overStdio(factory, { era: LEGACY, capabilities: { elicitation: {} } });
  const asked = () => line.came.first(({ method }) => method === 'elicitation/create');
  return { ...line, asked };
}

test('stdio: a call that is cancelled ends its question, and a late yes runs nothing', async () => {
  const { factory, ran } = confirming();
  const line = await eliciting(factory);
  line.request(1, 'tools/call', call);
  const question = await line.asked();
  line.notify('notifications/cancelled', { requestId: 1 });
  const ended = await line.came.first(({ method }) => method === 'notifications/cancelled');
  assert.equal(ended.params.requestId, question.id);
  line.send({ id: question.id, result: yes });
  await line.settled();
  assert.deepEqual(ran, []);
  assert.ok(!line.came.messages.some(({ id }) => id === 1));
  await line.close();
});

test("a question that has not left ends with its call, and its failure is nobody else's", {
  timeout: 30_000,
}, async () => {
  const { factory, ran } = confirming();
  const sent = [];
  const transport = {
    start: async () => {},
    close: async () => transport.onclose?.(),
    send(message) {
      sent.push(message);
      if (message.method === 'notifications/cancelled') throw new Error('closed');
      return message.method === 'elicitation/create' ? new Promise(() => {}) : Promise.resolve();
    },
  };
  const came = async (is) => {
    while (!sent.some(is)) await new Promise(setImmediate);
  };
  const server = factory();
  await server.connect(transport);
  transport.onmessage(withCapabilities({ elicitation: {} }));
  await came(({ id }) => id === 'first');
  const timers = () => process.getActiveResourcesInfo().filter((of) => of === 'Timeout').length;
  const before = timers();
  transport.onmessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call });
  await came(({ method }) => method === 'elicitation/create');
  // The test's runner fails for a rejection that nobody handles.
  const params = { requestId: 1 };
  transport.onmessage({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  await came(({ method }) => method === 'notifications/cancelled');
  await new Promise((over) => setTimeout(over, 20));
  assert.deepEqual([ran, timers()], [[], before]);
  await server.close();
});

/** The messages of a stream of events, as they come. */
async function* eventsOf(response) {
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${text}${chunk}`.split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data: {')) yield JSON.parse(line.slice(6));
  }
}

test('HTTP with sessions of the SDK: only the user who was asked answers', async () => {
  const principal = ({ http }) => ({ subject: http.req.headers.get('x-user') });
  const { factory, ran } = confirming({ principal });
  const post = await stateful(factory);
  const events = eventsOf(
    await post({ id: 1, method: 'tools/call', params: call }, { 'x-user': 'alice' }),
  );
  const { value: question } = await events.next();
  assert.equal(question.method, 'elicitation/create');
  assert.match(question.id, /^sealwax:[0-9a-f]{32}$/);
  for (const user of ['mallory', '', 'alice']) {
    // Whatever an answer before had run has begun by then.
    for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
    assert.deepEqual(ran, []);
    const answered = await post({ id: question.id, result: yes }, { 'x-user': user });
    assert.equal(answered.status, 202);
  }
  const { value: answer } = await events.next();
  assert.equal(answer.result.content[0].text, 'done');
  assert.deepEqual(ran, ['delete_note']);
});

test('stdio: while the list does not come, all is asked about', async () => {
  const lists = () => new Promise((give) => setTimeout(give, 700, { tools: [] }));
  const { factory, ran, refused } = confirming({ lists });
  const line = await eliciting(factory);
  line.request(1, 'tools/call', call);
  const question = await line.asked();
  assert.equal(question.params.message, 'Run "delete_note" with {"id":7}?');
  assert.deepEqual(ran, []);
  // By then it has come.
  await new Promise((over) => setTimeout(over, 400));
  line.send({ id: question.id, result: yes });
  await line.came.first(({ id }) => id === 1);
  assert.deepEqual([ran, refused], [['delete_note'], ['invalid_argument']]);
  assert.ok(!line.came.messages.some(({ result }) => result?.tools));
  await line.close();
});

test('stdio: a call that is cancelled while the list is awaited runs nothing', async () => {
  let give;
  // What `settled` asks for is there at once.
  const first = () => new Promise((later) => (give = later));
  const { factory, ran } = confirming({ lists: () => (give ? undefined : first()) });
  const line = await eliciting(factory);
  line.request(1, 'tools/call', call);
  while (give === undefined) await new Promise(setImmediate);
  line.notify('notifications/cancelled', { requestId: 1 });
  await line.settled();
  give({ tools: [] });
  await line.settled();
  assert.deepEqual(ran, []);
  assert.ok(!line.came.messages.some(({ id }) => id === 1 || `${id}`.startsWith('sealwax')));
  await line.close();
});

test('HTTP without sessions of the SDK: nobody is asked, for no answer would come back', {
  timeout: 30_000,
}, async () => {
  const { guard, factory, ran, refused } = confirming();
  const handler = guard.fetch(createMcpHandler(factory).fetch);
  const { headers } = await handler(requestOf(withCapabilities({ elicitation: {} })));
  const session = {
    'mcp-session-id': headers.get('mcp-session-id'),
    'mcp-protocol-version': LEGACY,
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
  const answer = await handler(requestOf(message, session));
  const [{ result }, ...more] = messagesOf(await answer.text());
  assert.match(result.content[0].text, /^delete_note was not run/);
  assert.deepEqual([more, ran, refused], [[], [], ['unconfirmed']]);
});

test('the state of a question is none of a handler of 1.x, whose context has none', async () => {
  const guard = guardOf().confirm('delete_note', 'Delete note {id}?');
  let opened = 'not run';
  const tool = (_, { mcpReq: { _meta } }) => {
    opened = guard.opened({ _meta });
    return text('done');
  };
  const factory = factoryOf({ 'tools/call': tool }, guard);
  const { requestState, inputRequests } = (await called(factory, call)).result;
  const inputResponses = { [Object.keys(inputRequests)[0]]: yes };
  await called(factory, { ...call, requestState, inputResponses });
  assert.equal(opened, undefined);
});
