// A key for an API that keeps to `Idempotency-Key`: two replicas, and a handler that dies before it answers.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

/** Pays, and gives the same answer to a key that it knows (draft-ietf-httpapi-idempotency-key-header). */
async function payments() {
  const paid = new Map();
  const server = createServer((request, response) => {
    const key = request.headers['idempotency-key'];
    if (!paid.has(key)) paid.set(key, `payment ${paid.size + 1}`);
    response.end(paid.get(key));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { paid, url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

function replica(url, dies) {
  const guard = guardOf().confirm('pay', 'Pay {cents} cents to {to}?');
  const handlers = {
    'tools/call': async (_, ctx) => {
      const headers = { 'idempotency-key': guard.idempotencyKey(ctx) };
      const answered = await fetch(url, { method: 'POST', headers });
      const done = await answered.text();
      if (dies) throw new Error('killed');
      return text(done);
    },
  };
  return factoryOf(handlers, guard);
}

test('a confirmed payment is made once, however often it is tried', async () => {
  const { paid, url, close } = await payments();
  const paying = { name: 'pay', arguments: { cents: 500, to: 'bob' } };
  const call = async (factory, more = {}) => {
    const [body, headers] = modern(1, 'tools/call', { ...paying, ...more });
    const { messages } = await overHttp(factory, body, headers);
    return messages.find(({ id }) => id === 1);
  };
  const confirmed = async () => {
    const { result } = await call(replica(url));
    const [question] = Object.keys(result.inputRequests);
    const yes = { action: 'accept', content: { choice: 'yes' } };
    return { requestState: result.requestState, inputResponses: { [question]: yes } };
  };
  const first = await confirmed();
  await call(replica(url, true), first);
  assert.deepEqual([...paid.values()], ['payment 1']);
  assert.equal((await call(replica(url), first)).result.content[0].text, 'payment 1');
  assert.equal((await call(replica(url), await confirmed())).result.content[0].text, 'payment 2');
  assert.equal(paid.size, 2);
  for (const key of paid.keys()) assert.match(key, /^[0-9a-z]{32}$/);
  close();
});
