// Arguments that the API refuses, and texts that it must not confuse.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { answer, Codec, Key, KeyRing, requestContext, requestContextFromJson } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { alice, codec, keys, payload, refused } from './api.mjs';

test('whatever a client sends for a session is refused as malformed', () => {
  const sessions = alice.sessions();
  const { sessionId, state } = sessions.create(payload);
  for (const metadata of [
    ...[undefined, null, 1, 'text', [], {}, { sessionId }, { state }, { sessionId: 1, state }],
    ...[
      { sessionId, state: [state] },
      { sessionId, state: `${state}\udc00` },
    ],
  ])
    refused('malformed', () => sessions.open(metadata));
});

test('a value of the wrong type is a TypeError, and so is a misspelt option', () => {
  const sealer = alice.session();
  const detached = new Uint8Array(8);
  structuredClone(detached, { transfer: [detached.buffer] });
  for (const act of [
    () => new Codec({ keys: 7, audience: 'a' }),
    () => new Codec({ keys, audience: 1 }),
    () => new Codec({ keys, audience: 'a', clockTolerance: '60' }),
    () => new KeyRing([7]),
    () => Key.parse(1),
    () => Key.fromSecret('x'.repeat(32)),
    () => codec.view({ subject: 1 }),
    () => sealer.seal('text'),
    () => sealer.seal(new ArrayBuffer(8)),
    () => sealer.seal(new Uint8ClampedArray(8)),
    () => sealer.seal(new Proxy(payload, {})),
    // By its class alone it is one.
    () => sealer.seal(Object.setPrototypeOf(new Float64Array(8), Uint8Array.prototype)),
    () => sealer.seal(detached),
    () => sealer.seal(payload, { ttl: '60' }),
    () => sealer.sealJson(1n),
    () => sealer.open(payload),
    () => sealer.open('x', 60),
    () => alice.requestState('x'.repeat(32)),
    () => alice.sessions().renew({}, payload),
    () => alice.verifyHandle('tx', 1),
    () => requestContextFromJson('tools/call', 'x', {}),
    () => answer('cursor', { sessionId: 1 }),
    () => new Codec({ keys, audience: 'a', payloadlimit: 1 }),
    () => codec.view({ subject: 'alice', iss: 'x' }),
    () => sealer.seal(payload, { noexpiry: true }),
    () => alice.custom('x', { sessionID: 'x' }),
    () => requestContext('tools/call', 'x', { id: 7 }, { only: 'id' }),
  ]) {
    assert.throws(act, TypeError, `${act}`);
  }
});

test('keys are keys, texts, rings, or several of them; where there are none, it is said how to make one', () => {
  for (const keys of [undefined, null, '']) {
    for (const make of [() => new Codec({ keys, audience: 'a' }), () => KeyRing.parse(keys)])
      refused('invalid_key', make, /SEALWAX_KEYS.*sealwax keygen/);
  }
  const [one, other] = [Key.generate(), Key.generate()];
  const ids = (given) => new KeyRing(given).ids.join(' ');
  assert.equal(ids(one), one.id);
  assert.equal(ids([one, other.toText()]), `${one.id} ${other.id}`);
  assert.equal(ids([new KeyRing([other]), one]), `${other.id} ${one.id}`);
  assert.equal(ids([`${one.toText()} ${other.toText()}`]), `${one.id} ${other.id}`);
  refused('invalid_key', () => new KeyRing([one, one.toText()]), /each key once/);
  refused('invalid_key', () => new KeyRing([one, undefined]), /SEALWAX_KEYS/);
  refused('invalid_key', () => new KeyRing([]), /expected 1 to 16 keys/);
});

test('an object of another copy of the package is told as such', () => {
  const other = createRequire(import.meta.url)('sealwax');
  const message = /of another: load sealwax by import everywhere, or by require everywhere/;
  const theirs = new other.KeyRing([other.Key.generate()]);
  const codec = new other.Codec({ keys: theirs, audience: 'a' });
  for (const act of [
    () => new Codec({ keys: theirs, audience: 'a' }),
    () => new other.Codec({ keys, audience: 'a' }),
    () => new KeyRing([other.Key.generate()]),
    () => new Guard({ codec, principal: 'anonymous' }),
  ])
    assert.throws(act, { name: 'TypeError', message });
});

test('mistakes are the core’s to refuse', () => {
  const sealer = alice.session();
  const principals = [undefined, {}, { issuer: 'x' }, { anonymous: false }];
  for (const [act, message] of [
    [() => new Codec({ keys }), /audience: expected/],
    [() => new Codec({ keys, audience: 'a', payloadLimit: 2 ** 32 + 1 })],
    ...[...principals, { anonymous: true, subject: 'x' }].map((one) => [() => codec.view(one)]),
    ...[-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53].map((ttl) => [
      ...[() => sealer.seal(payload, { ttl }), /whole number/],
    ]),
    [() => sealer.seal(payload, { ttl: 2 ** 32 })],
    [() => sealer.seal(payload, { ttl: 1, noExpiry: true })],
    // Arguments of a request are no text of JSON, nor what JSON would bend.
    ...['{"id":7}', Number.NaN, [Number.POSITIVE_INFINITY], { n: 2 ** 53 }, () => {}].map(
      (args) => [() => requestContext('tools/call', 'x', args)],
    ),
    // No names, and one that has NUL.
    [() => requestContext('tools/call', 'x', { '': 7 }, { only: [] })],
    [() => requestContextFromJson('tools/call', 'x', '{"":7}', { only: [] })],
    [() => requestContext('tools/call', 'x', { id: 7 }, { only: ['i\0d'] })],
    [() => sealer.sealJson({ n: Number.NaN })],
    [() => sealer.sealJson(undefined)],
  ]) {
    refused('invalid_argument', act, message);
  }
  for (const size of [31, 32]) refused('invalid_key', () => Key.fromSecret(new Uint8Array(size)));
  assert.equal(Key.fromSecret(Uint8Array.from({ length: 33 }, (_, at) => at)).toText(), undefined);
});

test('lone surrogates are refused before they become one another', () => {
  const lone = 'x\ud800';
  for (const act of [
    () => new Codec({ keys, audience: lone }),
    () => codec.view({ subject: lone }),
    () => codec.view({ subject: 'x', issuer: lone }),
    () => alice.state(lone),
    () => alice.custom('x', { sessionId: lone }),
    () => requestContext(lone, 'x'),
    () => requestContext('x', lone),
  ]) {
    refused('invalid_argument', act, /lone surrogate/);
  }
  refused('invalid_argument', () => requestContext('x', 'x', { [lone]: 1 }));
  refused('invalid_argument', () => requestContextFromJson('x', 'x', `{"a":"${lone}"}`));
  refused('malformed', () => alice.session().open(lone));
  refused('malformed', () => alice.verifySessionId(lone));
  refused('malformed', () => alice.verifyHandle('tx', `tx_${lone}`));
  refused('invalid_key', () => KeyRing.parse(lone));
});

test('a text is taken whole, whatever its characters', () => {
  // As many bytes as the whole has characters make a shorter text: none may pass for the other.
  for (const [whole, part] of [
    ['éa', 'é'],
    ['😂ab', '😂'],
    ['aé', 'a'],
  ]) {
    const token = alice.state(whole).seal(payload);
    assert.deepEqual(alice.state(whole).open(token).payload, payload);
    refused('unauthentic', () => alice.state(part).open(token));
    const cursor = alice.cursor('tools/list');
    refused('malformed', () => cursor.open(cursor.seal(payload) + whole));
  }
});

test('arguments are one request however they are written', () => {
  // In JavaScript some keys have an order of their own, and some values a form of their own.
  const date = JSON.stringify({ b: new Date(0), a: 1 });
  for (const [value, text] of [
    [{ b: new Date(0), a: 1 }, date],
    ...['{"__proto__":{"b":1,"a":2},"a":1}', '{"10":1,"9":2,"a":3}'].map((text) => [
      ...[JSON.parse(text), text],
    ]),
  ]) {
    const found = requestContext('tools/call', 'x', value);
    assert.deepEqual(found, requestContextFromJson('tools/call', 'x', text), text);
  }
  const twice = requestContextFromJson('m', 'x', '{"id":7,"n":1,"n":2}', { only: ['id'] });
  assert.deepEqual(twice, requestContext('m', 'x', { id: 7 }));
});
