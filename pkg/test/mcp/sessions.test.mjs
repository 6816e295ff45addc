// Data-layer sessions with the official client: what the transcripts do not see of them.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { answer, Key } from 'sealwax';
import { during, LEGACY, MODERN, told, transports } from './client.mjs';
import { META, within } from './fleet.mjs';
import { factoryOf, guardOf, overHttp } from './wire.mjs';

const keys = Key.generate().toText();
const closing = [];
afterEach(() => Promise.all(closing.splice(0).map((server) => server.close())));

async function serve(sessions = {}) {
  const server = await transports.http({ keys, sessions });
  closing.push(server);
  return server;
}

for (const era of [MODERN, LEGACY]) {
  test(`${era}: a result is the handler's own beside the session, and what it changed in place is not written`, async () => {
    const alice = await (await serve()).connect('alice', era);
    assert.deepEqual(alice.client.getServerCapabilities().experimental.sessions, {});
    const { session, resultType } = (await alice.send('sessions/create', {})).result;
    assert.equal(resultType, era === MODERN ? 'complete' : undefined);
    const { sessionId } = session;
    let { state } = session;
    const call = (name) => alice.call(name, {}, within({ sessionId, state }));
    assert.deepEqual(told(await call('mutate')).value, { count: 1000 });
    assert.deepEqual(told(await call('read')).value, { count: 0 });
    const { _meta } = (await call('meta')).result;
    assert.equal(_meta.mine, 1);
    state = _meta[META].state;
    assert.deepEqual(told(await call('read')), { value: { count: 7 }, generation: 1 });
  });
}

test("what initialize says has the capability too, which the client's schema drops", async () => {
  const guard = guardOf();
  guard.sessions({ initial: () => 0 });
  const clientInfo = { name: 'x', version: '1' };
  const params = { protocolVersion: LEGACY, capabilities: {}, clientInfo };
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const { messages } = await overHttp(factoryOf({}, guard), initialize);
  const { sessions, experimental, tools } = messages[0].result.capabilities;
  assert.deepEqual([sessions, experimental, tools], [{}, { sessions: {} }, {}]);
});

test('where the function for the first value throws, its error is not logged', async () => {
  const server = await serve({ fails: true });
  const alice = await server.connect('alice');
  const create = () => alice.send('sessions/create', {});
  const { result, events } = await during(server.events, create);
  assert.deepEqual(result.error, answer('data-layer', { error: null }).error);
  assert.equal(events.find(({ code }) => code).code, 'invalid_argument');
  assert.ok(!JSON.stringify(events).includes('of a secret"'));
});
