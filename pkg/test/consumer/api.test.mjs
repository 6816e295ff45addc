// The API: what it returns, how its objects are freed, and what they print.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect as show } from 'node:util';

import { anonymous, answer, Codec, inspect, Key, KeyRing, requestContext } from 'sealwax';
import { alice, codec, key, keys, payload, refused } from './api.mjs';

test('what was sealed opens', () => {
  const sealer = alice.cursor('tools/list');
  const opened = sealer.open(sealer.seal(payload, { ttl: 60 }));
  assert.deepEqual(opened.payload, payload);
  assert.equal(opened.kind, 'cursor');
  assert.equal(opened.expiresAt, opened.issuedAt + 60);
  assert.deepEqual(sealer.open(sealer.sealJson({ page: [2] })).json(), { page: [2] });
  assert.equal(sealer.open(sealer.seal(payload, { noExpiry: true })).expiresAt, undefined);
  refused('malformed', () => sealer.open(sealer.seal(payload)).json());
});

test('a session goes through its life', () => {
  const sessions = alice.sessions({ ttl: 3600 });
  const sent = sessions.create(payload);
  assert.deepEqual(Object.keys(sent), ['sessionId', 'expiresAt', 'state']);
  assert.match(sent.expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const session = sessions.open(sent);
  assert.equal(session.id, sent.sessionId);
  assert.deepEqual(session.payload, payload);
  const renewed = sessions.open(sessions.renew(session, new Uint8Array([1])));
  assert.equal(renewed.id, session.id);
  assert.equal(renewed.generation, 1);
  const fork = sessions.open(sessions.fork(renewed));
  assert.notEqual(fork.id, session.id);
  assert.deepEqual(fork.payload, new Uint8Array([1]));
  assert.equal(sessions.verify(session.id).sessionId, session.id);
});

test('only what was opened can be renewed, and only as the kind it is', () => {
  const cursor = alice.cursor('tools/list');
  const opened = cursor.open(cursor.seal(payload));
  assert.throws(() => cursor.renew({ ...opened, kind: 'cursor' }, payload), TypeError);
  assert.throws(() => cursor.renew(Object.create(opened), payload), TypeError);
  assert.throws(() => alice.session().renew(opened, payload), TypeError);
  assert.throws(() => {
    opened.startedAt = 0;
  }, TypeError);
});

test('anonymous is said by a constant, and never by a text, which may be a name', () => {
  const token = codec.view(anonymous).session().seal(payload);
  assert.deepEqual(codec.view({ anonymous: true }).session().open(token).payload, payload);
  const user = codec.view({ subject: 'anonymous' });
  refused('principal_mismatch', () => user.session().open(token));
  for (const name of ['anonymous', 'alice', '']) {
    assert.throws(() => codec.view(name), {
      name: 'TypeError',
      message: /^principal: expected an object .* or the constant anonymous, found string$/,
    });
  }
});

test('a binding cannot be changed behind the sealer’s back', () => {
  const context = requestContext('tools/call', 'x');
  const sealer = alice.requestState(context);
  const token = sealer.seal(payload);
  context.fill(0);
  assert.deepEqual(sealer.open(token).payload, payload);
});

test('what was freed says so, and freeing again is nothing', () => {
  const own = Key.generate();
  const ring = new KeyRing([own]);
  const service = new Codec({ keys: ring, audience: 'a' });
  const view = service.view({ anonymous: true });
  const sealer = view.session();
  const sessions = view.sessions();
  const session = sessions.open(sessions.create(payload));
  own.free();
  own[Symbol.dispose]();
  ring[Symbol.dispose]();
  service[Symbol.dispose]();
  const token = sealer.seal(payload); // The view holds what it needs.
  session[Symbol.dispose]();
  refused('invalid_argument', () => sessions.fork(session), /session: was freed/);
  view[Symbol.dispose]();
  view.free();
  refused('invalid_argument', () => own.id, /key: was freed/);
  refused('invalid_argument', () => ring.ids, /key ring: was freed/);
  refused('invalid_argument', () => service.view({ anonymous: true }), /codec: was freed/);
  refused('invalid_argument', () => sealer.open(token), /view: was freed/);
  assert.deepEqual(session.payload, payload);
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
  const principals = [
    { anonymous: true },
    { subject: 'ab' },
    { client: 'ab' },
    { client: 'a', subject: 'b' },
    { issuer: 'a', subject: 'b' },
    { issuer: 'a', client: 'b' },
    { issuer: 'undefined', subject: 'b' },
    { issuer: 'a', client: 'b', subject: 'c' },
    { issuer: 'ab', client: 'c', subject: 'd' },
    { issuer: 'a', client: 'bc', subject: 'd' },
    ...Array.from({ length: 100 }, (_, at) => ({ subject: `user-${at}` })),
  ];
  const service = new Codec({ keys, audience: 'https://mcp.example.com' });
  const tokens = principals.map((principal) => service.view(principal).session().seal(payload));
  for (const [at, principal] of principals.entries()) {
    for (const [of, token] of tokens.entries()) {
      const act = () => service.view(principal).session().open(token);
      if (of === at) act();
      else refused('principal_mismatch', act);
    }
  }
});

test('a view that was freed is of no use, and those of the same principal are', () => {
  const service = new Codec({ keys, audience: 'https://mcp.example.com' });
  const [one, other] = [service.view({ subject: 'bob' }), service.view({ subject: 'bob' })];
  one.free();
  one.free();
  refused('invalid_argument', () => one.session().seal(payload), /freed already/);
  const token = other.session().seal(payload);
  for (let at = 0; at < 100; at++) service.view({ subject: `user-${at}` }).free();
  assert.deepEqual(other.session().open(token).payload, payload);
  service.free();
  assert.deepEqual(other.session().open(token).payload, payload);
  other.free();
  refused('invalid_argument', () => service.view({ subject: 'bob' }), /freed already/);
});

test('without randomness nothing is sealed', () => {
  const { getRandomValues } = crypto;
  try {
    crypto.getRandomValues = () => {
      throw new Error('none');
    };
    refused('entropy_unavailable', () => alice.session().seal(payload));
    refused('entropy_unavailable', () => alice.mintSessionId());
    refused('entropy_unavailable', () => Key.generate());
    crypto.getRandomValues = undefined;
    refused('entropy_unavailable', () => alice.mintHandle('tx'));
  } finally {
    crypto.getRandomValues = getRandomValues;
  }
});

test('a text is told for what it is', () => {
  const id = alice.mintSessionId();
  const { createdAtMs } = alice.verifySessionId(id);
  assert.deepEqual(inspect(id), { what: 'session-id', keyId: key.id, createdAtMs });
  const handle = inspect(alice.mintHandle('tx'));
  assert.deepEqual([handle.what, handle.type], ['handle', 'tx']);
  const token = alice.handleState('tx').seal(payload);
  const tokenId = alice.handleState('tx').open(token).tokenId;
  const expected = { what: 'token', kind: 'handle-state', keyId: key.id, tokenId };
  assert.deepEqual(inspect(token), expected);
  assert.deepEqual(inspect(key.toText()), { what: 'key', keyId: key.id });
  refused('malformed', () => inspect('?'));
});

test('an id tells when it ends', () => {
  const verified = alice.verifySessionId(alice.mintSessionId(), { maxAge: 60 });
  assert.equal(verified.endsAtMs, verified.createdAtMs + 60_000);
  assert.match(verified.ulid, /^[0-9a-f]{32}$/);
  const handle = alice.mintHandle('tx');
  assert.equal(alice.verifyHandle('tx', handle).handle, handle);
  refused('expired', () => alice.verifyHandle('tx', handle, { maxAge: 0 }));
});

test('keys rotate', () => {
  const token = alice.session().seal(payload);
  const both = new KeyRing([Key.generate(), key]);
  const rotated = new Codec({ keys: both, audience: 'https://mcp.example.com' });
  const opened = rotated.view({ subject: 'alice' }).session().open(token);
  assert.equal(opened.needsReseal, true);
  assert.equal(opened.needsRenewal, true);
  assert.equal(both.ids[1], key.id);
  assert.equal(Key.fromSecret(Uint8Array.from({ length: 33 }, (_, at) => at)).toText(), undefined);
  refused('invalid_key', () => Key.fromSecret(new Uint8Array(32)));
  refused('invalid_key', () =>
    Key.fromSecret(new TextEncoder().encode('correct horse '.repeat(3))),
  );
  const alone = new Codec({ keys: Key.generate().toText(), audience: 'a' });
  refused('unknown_key', () => alone.view({ anonymous: true }).session().open(token));
});

test('the wire gets one answer for every refusal, and another for the server’s own trouble', () => {
  const caught = (act) => {
    try {
      return act();
    } catch (error) {
      return error;
    }
  };
  const refusal = caught(() => alice.session().open('?'));
  const mistake = caught(() => alice.cursor('').open('?'));
  assert.equal(refusal.isRefusal, true);
  const fixed = { error: { code: -32602, message: 'Invalid cursor' } };
  const internal = { error: { code: -32603, message: 'Internal error' } };
  assert.deepEqual(answer('cursor'), fixed);
  assert.deepEqual(answer('cursor', { error: refusal }), fixed);
  assert.deepEqual(answer('cursor', { error: mistake }), internal);
  assert.deepEqual(answer('cursor', { error: new Error('any') }), internal);
  assert.deepEqual(answer('mcp-session-id'), { httpStatus: 404 });
  const echoed = answer('data-layer', { sessionId: 'sess_x' });
  assert.deepEqual(echoed.error.data, { sessionId: 'sess_x' });
  assert.equal(answer('data-layer', { sessionId: 'x\n' }).error.data, undefined);
});
