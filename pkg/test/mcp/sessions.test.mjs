// Data-layer sessions, over every transport and revision: what a session does, and all that must
// not be one.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { answer, Key } from 'sealwax';
import { bearer, during, LEGACY, MODERN, sleep, told, transports } from './client.mjs';

const META = 'io.modelcontextprotocol/session';
const keys = Key.generate().toText();
const retired = Key.generate().toText();
const sessions = { required: { methods: ['resources/read'], tools: ['count', 'sorry'] } };

const refusal = (sessionId) => ({
  jsonrpc: '2.0',
  error: answer('data-layer', { sessionId }).error,
});
const required = { jsonrpc: '2.0', error: answer('data-layer-required').error };
const internal = { jsonrpc: '2.0', error: answer('data-layer', { error: null }).error };

/** A session at the client: every request has its metadata, and every result may change it. */
function held(client, metadata) {
  return {
    metadata,
    get sent() {
      const { sessionId, state } = this.metadata;
      return { sessionId, state };
    },
    async send(method, params = {}) {
      const answer = await client.send(method, { ...params, _meta: { [META]: this.sent } });
      const came = answer.result?._meta?.[META];
      if (came) this.metadata = { ...this.metadata, ...came };
      return answer;
    },
    call(name, args = {}) {
      return this.send('tools/call', { name, arguments: args });
    },
  };
}

async function created(client, params) {
  const { result } = await client.send('sessions/create', params);
  return held(client, result.session);
}

const withMeta = (metadata) => ({ _meta: { [META]: metadata } });

for (const transport of ['http', 'stdio']) {
  for (const era of [MODERN, LEGACY]) {
    describe(`sessions, ${transport}, revision ${era}`, () => {
      const servers = [];
      const serve = async (config) => {
        const server = await transports[transport]({ keys, sessions, ...config });
        servers.push(server);
        return server;
      };
      let [server, alice, mallory] = [];
      before(async () => {
        server = await serve({});
        alice = await server.connect('alice', era);
        mallory = await server.connect('mallory', era);
      });
      after(() => Promise.all(servers.map((server) => server.close())));

      test('the capability is declared', () => {
        const { experimental } = alice.client.getServerCapabilities();
        assert.deepEqual(experimental.sessions, {});
      });

      test('a session counts, its id stays, and what is written comes back', async () => {
        const session = await created(alice);
        const { sessionId, state, expiresAt } = session.metadata;
        assert.match(sessionId, /^[\x21-\x7e]{64}$/);
        assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 86_400_000) < 5000);
        for (const count of [1, 2, 3]) {
          const answer = await session.call('count');
          assert.deepEqual(told(answer), { value: { count }, generation: count - 1 });
          const came = answer.result._meta[META];
          assert.equal(came.sessionId, sessionId);
          assert.notEqual(came.state, state);
          assert.match(came.expiresAt, /Z$/);
        }
        // Nothing was written: the id alone comes back.
        const read = await session.call('read');
        assert.deepEqual(read.result._meta[META], { sessionId });
        assert.deepEqual(told(read), { value: { count: 3 }, generation: 3 });
        // What is changed in place is not written.
        assert.deepEqual(told(await session.call('mutate')).value, { count: 1000 });
        assert.deepEqual(told(await session.call('read')).value, { count: 3 });
        const { result } = await session.call('meta');
        assert.equal(result._meta.mine, 1);
        assert.deepEqual(told(await session.call('read')).value, { count: 7 });
      });

      test('a result of the draft is one of the revision', async () => {
        const { result } = await alice.send('sessions/create', {});
        assert.equal(result.resultType, era === MODERN ? 'complete' : undefined);
      });

      test('the first value is by what is asked', async () => {
        const session = await created(alice, { from: 40 });
        assert.deepEqual(told(await session.call('count')).value, { count: 41 });
      });

      test('two at once: the same generation, and the last write stays', async () => {
        const session = await created(alice);
        const [one, two] = [held(alice, session.metadata), held(alice, session.metadata)];
        assert.equal(told(await one.call('count')).generation, 0);
        assert.equal(told(await two.call('put', { size: 3 })), 'put');
        assert.equal(told(await one.call('read')).generation, 1);
        assert.deepEqual(told(await two.call('read')), { value: { filler: 'xxx' }, generation: 1 });
      });

      test('too much is an error to the author, and changes nothing', async () => {
        const session = await created(alice);
        const { metadata } = session;
        const { result, events } = await during(server.events, () =>
          session.call('put', { size: 10_000 }),
        );
        assert.deepEqual(result, internal);
        const { code, kind } = events.find(({ code }) => code);
        assert.deepEqual([code, kind], ['too_large', 'session']);
        assert.equal(session.metadata, metadata);
        assert.deepEqual(told(await session.call('read')).value, { count: 0 });
      });

      test('a write after the result tells the author', async () => {
        const session = await created(alice);
        const from = server.events.length;
        await session.call('late');
        const late = () => server.events.slice(from).find(({ late }) => late);
        for (let waits = 0; !late() && waits < 100; waits += 1) await sleep(10);
        assert.equal(late().late, 'invalid_argument');
      });

      test('what needs a session is not run without', async () => {
        for (const bring of [
          () => alice.call('count', {}),
          () => alice.send('resources/read', { uri: 'fail:///1' }),
        ]) {
          const { result, events } = await during(server.events, bring);
          assert.deepEqual(result, required);
          assert.equal(
            events.some(({ ran }) => ran),
            false,
          );
        }
        assert.equal(told(await alice.call('read', {})), null);
        const remembering = await (await serve({ accept: 'single' })).connect('alice', era);
        assert.deepEqual(await remembering.send('sessions/delete', {}), required);
      });

      test('the log knows it by the ulid, never by the id or the state', async () => {
        const session = await created(alice);
        const from = server.events.length;
        await session.call('count');
        await session.call('read');
        await sleep(30);
        const events = server.events.slice(from);
        const ulids = new Set(events.filter(({ ran }) => ran).map(({ ulid }) => ulid));
        assert.equal(ulids.size, 1);
        assert.match([...ulids][0], /^[0-9a-f]{32}$/);
        const all = JSON.stringify(server.events);
        assert.ok(!all.includes(session.metadata.sessionId));
        assert.ok(!all.includes(session.metadata.state));
      });

      test('a list is the same with, without, and with another session', async () => {
        const [one, two] = [await created(alice), await created(alice, { from: 5 })];
        await one.call('count');
        const lists = [];
        for (const list of ['tools/list', 'resources/templates/list', 'prompts/list']) {
          for (const sender of [alice, one, two]) {
            const { result } = await sender.send(list, {});
            const { _meta, nextCursor, ...rest } = result;
            lists.push(JSON.stringify(rest));
          }
          assert.equal(new Set(lists.splice(0)).size, 1, list);
          const { sessionId } = one.metadata;
          const bad = withMeta({ sessionId, state: two.metadata.state });
          assert.deepEqual(await alice.send(list, bad), refusal(sessionId));
        }
      });

      test('all else is refused, early, on every method, and the client cannot tell why', async () => {
        const session = await created(alice);
        const { sessionId, state } = session.sent;
        const [another, ofRetiredKey, idle, aged] = [
          await created(alice),
          await created(await (await serve({ keys: retired })).connect('alice', era)),
          await created(
            await (await serve({ sessions: { ...sessions, ttl: 1 } })).connect('alice', era),
          ),
          await created(await (await serve({ sessionMaxAge: 1 })).connect('alice', era)),
        ];
        const strict = await serve({ sessionMaxAge: 1 });
        const late = await strict.connect('alice', era);
        await sleep(2100);
        const cases = [
          ['principal_mismatch', session.sent, mallory],
          ['unauthentic', { sessionId, state: another.metadata.state }],
          ['expired', idle.sent],
          ['expired', aged.sent, late, strict],
          ['unauthentic', { sessionId, state: altered(state) }],
          ['unauthentic', { sessionId: altered(sessionId), state }],
          ['unknown_key', ofRetiredKey.sent],
          ['too_large', { sessionId, state: `${state}${'A'.repeat(1_000_000)}` }],
          ['malformed', { sessionId }],
          ['malformed', { sessionId, state: null }],
          ['malformed', { sessionId, state: 7 }],
          ['malformed', { sessionId: '', state }],
          ['malformed', { sessionId: 7, state }],
          ['malformed', { state }],
          ['malformed', 'a text'],
        ];
        const methods = {
          'tools/call': { name: 'count', arguments: {} },
          'tools/list': {},
          'resources/read': { uri: 'doc:///1' },
        };
        for (const [code, metadata, client = alice, at = server] of cases) {
          const sent = metadata?.sessionId;
          const expected = refusal(typeof sent === 'string' ? sent : undefined);
          for (const [method, params] of Object.entries(methods)) {
            const bring = () => client.send(method, { ...params, ...withMeta(metadata) });
            const { result, events } = await during(at.events, bring);
            assert.deepEqual(result, expected, `${code} ${method}`);
            const event = events.find(({ code }) => code);
            assert.equal(event?.code, code, JSON.stringify(metadata));
            assert.equal(event.kind, 'session');
            assert.equal(
              events.some(({ ran }) => ran),
              false,
              'the handler ran',
            );
            const log = JSON.stringify(events);
            for (const token of [sent, metadata?.state]) {
              if (token?.length > 32) assert.ok(!log.includes(token), 'a token is told');
            }
          }
        }
        assert.ok((await session.call('count')).result);
      });

      test('the server may hold what belongs to it', async () => {
        const at = await serve({ sessions: { heldByServer: true, required: true } });
        const client = await at.connect('alice', era);
        const session = await created(client);
        assert.equal(session.metadata.state, undefined);
        const { result } = await session.call('read');
        assert.deepEqual(told({ result }), { generation: 0 });
        assert.deepEqual(result._meta[META], { sessionId: session.metadata.sessionId });
        assert.equal((await session.call('count')).result.isError, true);
        assert.deepEqual(await client.call('read', {}), required);
        assert.ok((await client.send('tools/list', {})).result);
        if (era === LEGACY) await client.client.ping();
        const stranger = await at.connect('mallory', era);
        assert.deepEqual(
          await held(stranger, session.metadata).call('read'),
          refusal(session.metadata.sessionId),
        );
      });

      test('half of its life over, it is renewed though nothing was written', async () => {
        const at = await serve({ sessions: { ttl: 4 } });
        const session = await created(await at.connect('alice', era));
        await sleep(2100);
        const { state, sessionId } = session.metadata;
        const { result } = await session.call('read');
        assert.equal(result._meta[META].sessionId, sessionId);
        assert.notEqual(result._meta[META].state, state);
        assert.equal(told(await session.call('read')).generation, 1);
      });
    });
  }
}

test("on the wire there is the capability too, which the client's schema drops", async () => {
  const server = await transports.http({ keys, sessions });
  const clientInfo = { name: 'x', version: '1' };
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': clientInfo,
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  for (const [version, method, params] of [
    [LEGACY, 'initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo }],
    [MODERN, 'server/discover', { _meta }],
  ]) {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        authorization: await bearer('alice'),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': version,
        'mcp-method': method,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const [message] = (await response.text()).match(/\{.*\}/);
    const { capabilities } = JSON.parse(message).result;
    assert.deepEqual([capabilities.sessions, capabilities.experimental], [{}, { sessions: {} }]);
    assert.ok(capabilities.tools, 'what was there stays');
  }
  await server.close();
});

test('over HTTP, a header of another session than the body is a 400', async () => {
  const server = await transports.http({ keys, sessions });
  const alice = await server.connect('alice');
  const [session, another] = [await created(alice), await created(alice)];
  const headers = new Headers({ authorization: await bearer('alice') });
  const status = async (header) => {
    headers.set('mcp-session-id', header);
    const params = {
      ...{ name: 'read', arguments: {} },
      _meta: {
        [META]: session.sent,
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    };
    headers.set('content-type', 'application/json');
    headers.set('accept', 'application/json, text/event-stream');
    headers.set('mcp-protocol-version', MODERN);
    headers.set('mcp-method', 'tools/call');
    headers.set('mcp-name', 'read');
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return (await fetch(server.url, { method: 'POST', headers, body })).status;
  };
  assert.equal(await status(session.metadata.sessionId), 200);
  assert.equal(await status(another.metadata.sessionId), 400);
  await server.close();
});

test('a session goes on at another replica', async () => {
  const [one, two] = [
    await transports.http({ keys, sessions }),
    await transports.http({ keys, sessions }),
  ];
  const session = await created(await one.connect('alice'));
  await session.call('count');
  const moved = held(await two.connect('alice'), session.metadata);
  assert.deepEqual(told(await moved.call('count')).value, { count: 2 });
  await one.close();
  await two.close();
});

test('a failing accept is our trouble, and the session may be good', async () => {
  const good = await transports.http({ keys, sessions });
  const session = await created(await good.connect('alice'));
  for (const accept of ['throws', 'slow', 'vague']) {
    const server = await transports.http({ keys, sessions, accept });
    const moved = held(await server.connect('alice'), session.metadata);
    const { result, events } = await during(server.events, () => moved.call('count'));
    assert.deepEqual(result, internal);
    assert.equal(events.find(({ code }) => code).code, 'accept_unavailable');
    await server.close();
  }
  await good.close();
});

test('where the function for the first value throws, its error is not logged', async () => {
  const server = await transports.http({ keys, sessions: { fails: true } });
  const alice = await server.connect('alice');
  const create = () => alice.send('sessions/create', {});
  const { result, events } = await during(server.events, create);
  assert.deepEqual(result, internal);
  assert.equal(events.find(({ code }) => code).code, 'invalid_argument');
  assert.ok(!JSON.stringify(events).includes('of a secret"'));
  await server.close();
});

/** One character, the last but one so that all its bits count. */
function altered(token) {
  const at = token.length - 2;
  return `${token.slice(0, at)}${token[at] === 'a' ? 'b' : 'a'}${token.slice(at + 1)}`;
}
