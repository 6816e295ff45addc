// A page that caches may hand to anybody has nothing of one user's: no session, and no cursor that
// nobody else can use.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { anonymous } from 'sealwax';
import { codec, factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

const META = 'io.modelcontextprotocol/session';
const view = (subject) => codec.view(subject === undefined ? anonymous : { subject });

/** Servers of one guard, whose pages have a scope, asked by whoever is named in a header. */
function world({ scope = 'public', ttlMs = 5000, ...options } = {}) {
  const events = [];
  const guard = guardOf({
    principal: ({ http }) => {
      const subject = http.req.headers.get('x-user');
      return subject === 'nobody' ? undefined : { subject };
    },
    onRefused: (event) => events.push(event),
    ...options,
  });
  const sessions = guard.sessions({ initial: () => 'the value' });
  const seen = [];
  const page = (members) => (request, ctx) => {
    seen.push(sessions.of(ctx)?.value);
    const cursor = request.params?.cursor;
    const last = cursor === '2';
    return {
      ...members(cursor),
      ...(scope && { cacheScope: scope }),
      ...(ttlMs !== undefined && { ttlMs }),
      ...(!last && { nextCursor: cursor === '1' ? '2' : '1' }),
    };
  };
  const factory = factoryOf(
    {
      'tools/list': page((cursor) => ({
        tools: [{ name: `page ${cursor ?? 0}`, inputSchema: { type: 'object' } }],
      })),
      'resources/list': page(() => ({ resources: [] })),
      'resources/read': ({ params }) => ({
        contents: [{ uri: params.uri, text: 'x' }],
        ...{ cacheScope: scope, ttlMs },
      }),
      'tools/call': (_, ctx) => text(String(sessions.of(ctx)?.value)),
    },
    guard,
  );
  const ask = async (user, method, params) => {
    const [body, headers] = modern(1, method, params);
    return (await overHttp(factory, body, { ...headers, 'x-user': user })).messages[0];
  };
  return { ask, seen, events };
}

/** Whose a cursor is. */
function ownerOf(cursor, method = 'tools/list') {
  return [undefined, 'alice', 'bob'].filter((subject) => {
    try {
      return view(subject).cursor(method).open(cursor);
    } catch (error) {
      assert.equal(error.code, 'principal_mismatch');
      return false;
    }
  });
}

test("a public page's cursor is everybody's, a private one's its user's", async () => {
  for (const [scope, owner] of [
    ['public', undefined],
    ['private', 'alice'],
    [null, 'alice'],
  ]) {
    const { ask } = world({ scope });
    const { nextCursor } = (await ask('alice', 'tools/list')).result;
    assert.deepEqual(ownerOf(nextCursor), [owner], scope);
    const bobs = await ask('bob', 'tools/list', { cursor: nextCursor });
    const own = await ask('alice', 'tools/list', { cursor: nextCursor });
    assert.equal(own.result.tools[0].name, 'page 1');
    if (owner === undefined) {
      assert.equal(bobs.result.tools[0].name, 'page 1');
      assert.deepEqual(ownerOf(bobs.result.nextCursor), [undefined]);
    } else {
      assert.deepEqual(bobs.error, { code: -32602, message: 'Invalid cursor' });
    }
  }
});

test('a public cursor is still of its list, of this service, and in its time', async () => {
  const { ask, events } = world();
  const { nextCursor } = (await ask('alice', 'tools/list')).result;
  const nobody = view(undefined);
  const page = new TextEncoder().encode('1');
  const refused = [
    ['unauthentic', nextCursor, 'resources/list'],
    ['principal_mismatch', view('mallory').cursor('tools/list').seal(page), 'tools/list'],
    ['wrong_purpose', nobody.session().seal(page), 'tools/list'],
    ['malformed', 'x', 'tools/list'],
  ];
  for (const [code, cursor, method] of refused) {
    const { error } = await ask('alice', method, { cursor });
    assert.deepEqual(error, { code: -32602, message: 'Invalid cursor' });
    assert.equal(events.pop().code, code);
  }
  // Nobody has a public state: it is of a request, and of who made it.
  assert.ok((await ask('bob', 'tools/list', { cursor: nextCursor })).result);
});

test('a result with a session in it is for no shared cache', async () => {
  const { ask, seen } = world();
  const { session } = (await ask('alice', 'sessions/create')).result;
  const _meta = { [META]: { sessionId: session.sessionId, state: session.state } };
  for (const [method, params] of [
    ['tools/list', {}],
    ['resources/list', {}],
    ['resources/read', { uri: 'x:1' }],
  ]) {
    const { result } = await ask('alice', method, { ...params, _meta });
    assert.equal(result._meta[META].sessionId, session.sessionId);
    assert.deepEqual([result.cacheScope, result.ttlMs], ['private', 0], method);
    if (result.nextCursor) assert.deepEqual(ownerOf(result.nextCursor, method), ['alice']);
    // Without it, the very page is public.
    const plain = (await ask('alice', method, params)).result;
    assert.deepEqual([plain.cacheScope, plain.ttlMs], ['public', 5000]);
    assert.equal(plain._meta[META], undefined);
  }
  // A list does not depend on a session, so its handler sees none.
  assert.deepEqual(new Set(seen), new Set([undefined]));
  const called = await ask('alice', 'tools/call', { name: 'x', arguments: {}, _meta });
  assert.equal(called.result.content[0].text, 'the value');
});

test('a private result with a session in it is kept by no cache either', async () => {
  const { ask } = world({ scope: 'private' });
  const { session } = (await ask('alice', 'sessions/create')).result;
  const _meta = { [META]: { sessionId: session.sessionId, state: session.state } };
  const { result } = await ask('alice', 'tools/list', { _meta });
  assert.deepEqual([result.cacheScope, result.ttlMs], ['private', 0]);
});

test('a session on a list is verified all the same', async () => {
  const { ask, events } = world();
  const { session } = (await ask('alice', 'sessions/create')).result;
  const _meta = { [META]: { sessionId: session.sessionId, state: session.state } };
  const { error } = await ask('bob', 'tools/list', { _meta });
  assert.equal(error.code, -32043);
  assert.equal(events.at(-1).code, 'principal_mismatch');
});
