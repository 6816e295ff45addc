// Confirmations on a connection: who answers, and what a call that is over leaves. All else is in the transcripts.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';

import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import { LEGACY } from './client.mjs';
import { factoryOf, guardOf, overStdio, requestOf, text } from './wire.mjs';

const call = (id, name = 'delete_note') => ({ id, name, arguments: { id: 7 } });
const yes = { action: 'accept', content: { choice: 'yes' } };

/** A guard that confirms, the handlers of a server, and which of its tools ran. */
function confirming(options) {
  const guard = guardOf(options).confirm('delete_note', 'Delete note {id}?');
  const ran = [];
  const handlers = {
    'tools/list': () => ({ tools: [] }),
    'tools/call': ({ params }) => {
      ran.push(params.name);
      return text('done');
    },
  };
  return { factory: factoryOf(handlers, guard), ran };
}

/** A connection of a client that elicits. */
async function eliciting(factory) {
  const line = await overStdio(factory, { era: LEGACY, capabilities: { elicitation: {} } });
  const asked = () => line.came.first(({ method }) => method === 'elicitation/create');
  return { ...line, asked };
}

test('stdio: another tool runs unasked', async () => {
  const { factory, ran } = confirming();
  const line = await eliciting(factory);
  const { id, ...params } = call(1, 'show_note');
  line.request(id, 'tools/call', params);
  await line.came.first((message) => message.id === id);
  assert.deepEqual(ran, ['show_note']);
  await line.close();
});

test('stdio: a call that is cancelled ends its question, and a late yes runs nothing', async () => {
  const { factory, ran } = confirming();
  const line = await eliciting(factory);
  const { id, ...params } = call(1);
  line.request(id, 'tools/call', params);
  const question = await line.asked();
  line.notify('notifications/cancelled', { requestId: id });
  const ended = await line.came.first(({ method }) => method === 'notifications/cancelled');
  assert.equal(ended.params.requestId, question.id);
  line.send({ id: question.id, result: yes });
  await line.settled();
  assert.deepEqual(ran, []);
  assert.ok(!line.came.messages.some((message) => message.id === id));
  await line.close();
});

test("a question that has not left ends with its call, and its failure is nobody else's", async () => {
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
  const say = (message) => transport.onmessage({ jsonrpc: '2.0', ...message });
  const clientInfo = { name: 'wire', version: '1' };
  const capabilities = { elicitation: {} };
  const params = { protocolVersion: LEGACY, capabilities, clientInfo };
  say({ id: 'first', method: 'initialize', params });
  await came(({ id }) => id === 'first');
  const { id, ...named } = call(1);
  say({ id, method: 'tools/call', params: named });
  await came(({ method }) => method === 'elicitation/create');
  // The test's runner fails for a rejection that nobody handles.
  say({ method: 'notifications/cancelled', params: { requestId: id } });
  await came(({ method }) => method === 'notifications/cancelled');
  await new Promise((over) => setTimeout(over, 20));
  assert.deepEqual(ran, []);
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
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
  });
  const server = factory();
  await server.connect(transport);
  const headers = { 'mcp-protocol-version': LEGACY };
  const post = (message, user = 'alice') =>
    transport.handleRequest(
      requestOf({ jsonrpc: '2.0', ...message }, { ...headers, 'x-user': user }),
    );
  const clientInfo = { name: 'wire', version: '1' };
  const capabilities = { elicitation: {} };
  const params = { protocolVersion: LEGACY, capabilities, clientInfo };
  const begun = await post({ id: 'first', method: 'initialize', params });
  headers['mcp-session-id'] = begun.headers.get('mcp-session-id');
  await begun.text();

  const { id, ...named } = call(1);
  const events = eventsOf(await post({ id, method: 'tools/call', params: named }));
  const { value: question } = await events.next();
  assert.equal(question.method, 'elicitation/create');
  assert.match(question.id, /^sealwax:[0-9a-f]{32}$/);
  for (const user of ['mallory', '']) {
    const answered = await post({ id: question.id, result: yes }, user);
    assert.equal(answered.status, 202);
    assert.deepEqual(ran, []);
  }
  await post({ id: question.id, result: yes });
  const { value: answer } = await events.next();
  assert.equal(answer.id, id);
  assert.equal(answer.result.content[0].text, 'done');
  assert.deepEqual(ran, ['delete_note']);
  await server.close();
});

/** A server of two tools, of which one only reads; `lists` answers a request for them. */
function marking(lists) {
  const refused = [];
  const guard = guardOf({ onRefused: ({ code }) => refused.push(code) }).confirmDestructive();
  const ran = [];
  const inputSchema = { type: 'object' };
  const annotations = { readOnlyHint: true };
  const tools = [
    { name: 'delete_note', title: 'Delete a note', inputSchema },
    { name: 'show_note', inputSchema, annotations },
  ];
  const handlers = {
    'tools/list': () => lists?.() ?? { tools },
    'tools/call': ({ params }) => {
      ran.push(params.name);
      return text('done');
    },
  };
  return { factory: factoryOf(handlers, guard), ran, refused };
}

test('stdio: what the list marks is asked about, and the client hears nothing of the list', async () => {
  const { factory, ran, refused } = marking();
  const line = await eliciting(factory);
  for (const [id, name] of [
    [1, 'show_note'],
    [2, 'delete_note'],
  ]) {
    const { id: _, ...params } = call(id, name);
    line.request(id, 'tools/call', params);
    if (name === 'delete_note') {
      const question = await line.asked();
      assert.equal(question.params.message, 'Run Delete a note with {"id":7}?');
      line.send({ id: question.id, result: yes });
    }
    await line.came.first((message) => message.id === id);
  }
  assert.deepEqual(ran, ['show_note', 'delete_note']);
  assert.deepEqual(refused, []);
  const ours = line.came.messages.filter(({ id }) => `${id}`.startsWith('sealwax'));
  assert.equal(ours.length, 1, 'the question alone');
  await line.close();
});

for (const [how, lists] of [
  ['hangs', () => new Promise(() => {})],
  ['comes late', () => new Promise((give) => setTimeout(give, 700, { tools: [] }))],
  ['throws', () => Promise.reject(new Error('password=hunter2'))],
  ['is none', () => ({ tools: [{ inputSchema: { type: 'object' }, name: 'other' }] })],
]) {
  test(`stdio: with a list that ${how} all is asked about`, async () => {
    const { factory, ran, refused } = marking(lists);
    const line = await eliciting(factory);
    const { id, ...params } = call(1, 'show_note');
    line.request(id, 'tools/call', params);
    const question = await line.asked();
    assert.equal(question.params.message, 'Run "show_note" with {"id":7}?');
    assert.deepEqual(ran, []);
    if (how === 'comes late') await new Promise((over) => setTimeout(over, 400));
    line.send({ id: question.id, result: yes });
    await line.came.first((message) => message.id === id);
    assert.deepEqual(ran, ['show_note']);
    assert.deepEqual(refused, [how === 'is none' ? 'unconfirmed' : 'invalid_argument']);
    assert.ok(!line.came.messages.some(({ result }) => result?.tools));
    await line.close();
  });
}

test('stdio: a call that is cancelled while the list is awaited runs nothing', async () => {
  let give;
  // What `settled` asks for is there at once.
  const first = () => new Promise((later) => (give = later));
  const { factory, ran } = marking(() => (give === undefined ? first() : undefined));
  const line = await eliciting(factory);
  const { id, ...params } = call(1, 'show_note');
  line.request(id, 'tools/call', params);
  while (give === undefined) await new Promise(setImmediate);
  line.notify('notifications/cancelled', { requestId: id });
  await line.settled();
  give({ tools: [{ name: 'show_note', annotations: { readOnlyHint: true } }] });
  await line.settled();
  assert.deepEqual(ran, []);
  assert.ok(!line.came.messages.some(({ id }) => id === 1 || `${id}`.startsWith('sealwax')));
  await line.close();
});

test('a mistake is an error at once', () => {
  for (const [tool, question] of [
    ['delete_note', 'Delete {'],
    ['delete_note', ' '],
    ['delete_note', 7],
    ['delete_note'],
    [7, 'Delete?'],
  ]) {
    assert.throws(
      () => guardOf().confirm(tool, question),
      ({ code, name }) => code === 'invalid_argument' || name === 'TypeError',
    );
  }
  const only = { delete_note: ['id'] };
  assert.throws(() => guardOf({ only }).confirm('delete_note', 'Delete {name}?'), {
    message: /which may change after the user agreed/,
  });
  assert.throws(() => guardOf().confirm('delete_note', 'Delete?', { fallback: 'model' }), {
    message: /expected the fallback refuse or preview/,
  });
  const guard = guardOf();
  factoryOf({}, guard)();
  assert.throws(() => guard.confirm('delete_note', 'Delete?'), { message: /before guard.protect/ });
  assert.throws(() => guard.confirmDestructive(), { message: /before guard.protect/ });
  assert.throws(() => guardOf().confirmDestructive({ fallback: 'model' }), {
    message: /expected the fallback refuse or preview/,
  });
});
