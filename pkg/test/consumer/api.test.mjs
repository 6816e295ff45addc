// The API: what it returns, how its objects are freed, and what they print.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect as show } from 'node:util';

import { anonymous, answer, Codec, inspect, Key, KeyRing, requestContext } from 'sealwax';
import { alice, codec, key, keys, payload, refused } from './api.mjs';

test('what a token is bound to cannot be changed behind its sealer, and what holds no JSON is malformed', () => {
  const context = requestContext('tools/call', 'x');
  const bound = alice.requestState(context);
  const token = bound.seal(payload);
  context.fill(0);
  const opened = bound.open(token);
  assert.deepEqual([opened.payload, opened.kind], [payload, 'request-state']);
  refused('malformed', () => opened.json());
  assert.deepEqual(bound.open(bound.sealJson({ page: [2] })).json(), { page: [2] });
});

test('only what was opened can be renewed, and only as the kind it is', () => {
  const cursor = alice.cursor('tools/list');
  const opened = cursor.open(cursor.seal(payload));
  for (const act of [
    () => cursor.renew({ ...opened, kind: 'cursor' }, payload),
    () => cursor.renew(Object.create(opened), payload),
    () => alice.session().renew(opened, payload),
    () => {
      opened.startedAt = 0;
    },
  ])
    assert.throws(act, TypeError);
});

test('nobody is said by a text, which may be a name', () => {
  for (const name of ['anonymous', 'alice', '']) {
    assert.throws(() => codec.view(name), {
      name: 'TypeError',
      message: /^principal: expected an object .* or the constant anonymous, found string$/,
    });
  }
});

test('what was freed says so, and freeing again is nothing', () => {
  const own = Key.generate();
  const ring = new KeyRing([own]);
  const service = new Codec({ keys: ring, audience: 'a' });
  const [view, other] = [service.view({ subject: 'bob' }), service.view({ subject: 'bob' })];
  const [sealer, sessions] = [view.session(), view.sessions()];
  const session = sessions.open(sessions.create(payload));
  own.free();
  for (const held of [own, ring, service]) held[Symbol.dispose]();
  const token = sealer.seal(payload); // The view holds what it needs.
  session[Symbol.dispose]();
  refused('invalid_argument', () => sessions.fork(session), /session: was freed/);
  view[Symbol.dispose]();
  view.free();
  for (const [what, act] of [
    ['key', () => own.id],
    ['key ring', () => ring.ids],
    ['codec', () => service.view({ subject: 'bob' })],
    ['view', () => sealer.open(token)],
    ['view', () => view.session().seal(payload)],
  ])
    refused('invalid_argument', act, new RegExp(`${what}: was freed`));
  assert.deepEqual(session.payload, payload);
  // Another of the same principal is not.
  assert.deepEqual(other.session().open(token).payload, payload);
});

test('no secret is printed', () => {
  const session = alice.sessions().open(alice.sessions().create(payload));
  const secret = key.toText().slice(5);
  const eights = [...secret.slice(7)].map((_, at) => secret.slice(at, at + 8));
  for (const object of [key, keys, codec, alice, alice.session(), alice.sessions(), session]) {
    const printed = show(object, { showHidden: true, depth: 9 }) + JSON.stringify(object) + object;
    assert.ok(!eights.some((eight) => printed.includes(eight)), printed);
    assert.ok(!printed.includes('language=en') && !printed.includes('payload:'), printed);
    assert.equal(JSON.stringify(object), '{}');
  }
});

test('a view of one principal is never that of another, kept or not', () => {
  const parts = (text) => {
    const [issuer, client, subject] = text.split('/').map((part) => part || undefined);
    return { issuer, client, subject };
  };
  const like = ['//anonymous', '/ab/', '/a/b', 'a//b', 'a/b/', 'undefined//b', 'a/bc/d', 'ab/c/d'];
  const users = Array.from({ length: 100 }, (_, at) => `//user-${at}`);
  const principals = [anonymous, ...[...like, ...users].map(parts)];
  const sessions = principals.map((principal) => () => codec.view(principal).session());
  const tokens = sessions.map((session) => session().seal(payload));
  for (const [at, session] of sessions.entries()) {
    for (const [of, token] of tokens.entries()) {
      if (of === at) session().open(token);
      else refused('principal_mismatch', () => session().open(token));
    }
  }
});

test('an id tells when it ends', () => {
  const id = alice.mintSessionId();
  assert.equal(alice.sessions().verify(id).sessionId, id);
  const { createdAtMs, endsAtMs } = alice.verifySessionId(id, { maxAge: 60 });
  assert.equal(endsAtMs, createdAtMs + 60_000);
  assert.deepEqual(inspect(id), { what: 'session-id', keyId: key.id, createdAtMs });
  const handle = alice.mintHandle('tx');
  assert.equal(alice.verifyHandle('tx', handle).handle, handle);
});

test('the wire gets one answer for every refusal, and another for the server’s own trouble', () => {
  for (const [open, code] of [
    [() => alice.session().open('?'), -32602],
    [() => alice.cursor('').open('?'), -32603],
    [() => [].of.any, -32603],
  ])
    assert.throws(open, (error) => {
      assert.equal(answer('cursor', { error }).error.code, code);
      return code !== -32602 || error.isRefusal;
    });
  assert.deepEqual(answer('mcp-session-id'), { httpStatus: 404 });
  const echoed = answer('data-layer', { sessionId: 'sess_x' });
  assert.deepEqual(echoed.error.data, { sessionId: 'sess_x' });
  assert.equal(answer('data-layer', { sessionId: 'x\n' }).error.data, undefined);
});
