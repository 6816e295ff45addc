// No error holds a key, a token or a payload, whichever way it is written to a log.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { inspect as show } from 'node:util';

import * as sealwax from 'sealwax';
import { vectors } from './api.mjs';
import { at, cannotBeSaid, open } from './vectors.mjs';

const { Codec, Key, KeyRing } = sealwax;
const files = vectors.filter(({ reject }) => reject);
const [key, other] = files[0].keys.map(({ text }) => text);
const payload = 'hunter2';
const bytes = new TextEncoder().encode(payload);
const secrets = [payload, `${bytes}`, [...bytes].join(', '), Buffer.from(bytes).toString('hex')];
for (const { text, secret } of files[0].keys) {
  secrets.push(...pieces(text.slice(5), 8), ...pieces(secret, 16));
}

/** Every run of so many characters. */
function pieces(text, size) {
  return Array.from({ length: Math.max(0, text.length - size + 1) }, (_, from) =>
    text.slice(from, from + size),
  );
}

function check(act, others = []) {
  assert.throws(act, (error) => {
    assert.ok(error instanceof sealwax.SealwaxError || error instanceof TypeError, `${error}`);
    const hidden = show(error, { depth: 9, showHidden: true });
    const said = [hidden, `${error}`, error.stack, JSON.stringify(error), show(error.cause)].join();
    const found = [...secrets, ...others].filter((secret) => said.includes(secret));
    assert.equal(found.length, 0, `${found.length} pieces in what ${error.name} says`);
    return true;
  });
}

test('refused tokens, ids and handles are not told', () => {
  let count = 0;
  for (const file of files) {
    for (const vector of file.reject.filter((vector) => !cannotBeSaid(vector))) {
      const text = vector[vector.what === 'sealed' ? 'token' : vector.what];
      check(() => open(sealwax, vector, file), pieces(text, 12));
      count += 1;
    }
  }
  assert.ok(count > 100, `${count}`);
});

test('keys are not told', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwax-'));
  context.after(() => rmSync(folder, { recursive: true }));
  const keysFile = join(folder, 'keys');
  writeFileSync(keysFile, `${key} ${key}x`);
  for (const act of [
    () => Key.parse(`${key}\ud800`),
    () => Key.fromSecret(key),
    () => Key.fromSecret(new TextEncoder().encode(key)),
    () => KeyRing.parse(`${key} ${key}`),
    () => new KeyRing([key, `${key}x`]),
    () => Key.derive(key),
    () => new Codec({ keys: { key }, audience: 'a' }),
    () => new Codec({ keysFile, audience: 'a' }),
    () => new Codec({ keysFile: key, audience: 'a' }),
  ]) {
    check(act);
  }
  for (const { ring } of files.flatMap((file) => file.key_rings.filter(({ error }) => error))) {
    const others = ring.split(/[\s,]+/).flatMap((word) => pieces(word.slice(5), 8));
    for (const act of [
      () => KeyRing.parse(ring),
      () => Key.parse(ring),
      () => new Codec({ keys: ring, audience: 'a' }),
      () => sealwax.inspect(`${ring}x`),
    ])
      check(act, others);
  }
});

test('tokens and payloads are not told', () => {
  const now = 1_780_000_000_000;
  const codec = new Codec({ keys: key, audience: 'a' });
  const [alice, mallory] = ['alice', 'mallory'].map((subject) => codec.view({ subject }));
  const elsewhere = new Codec({ keys: other, audience: 'a' }).view({ subject: 'alice' });
  const session = alice.session();
  const token = at(now, null, () => session.seal(bytes, { ttl: 60 }));
  const none = at(now, null, () => session.open(session.seal(Uint8Array.of(0xff, ...bytes))));
  const circle = { password: payload };
  circle.circle = circle;
  for (const act of [
    () => mallory.session().open(token),
    () => elsewhere.session().open(token),
    () => alice.cursor('tools/list').open(token),
    () => session.open(`${token}AAAA`),
    () => session.open(`${token}\ud800`),
    () => session.open(Buffer.from(token)),
    () => session.seal(new TextEncoder().encode(payload.repeat(1000))),
    () => session.seal(payload),
    () => session.sealJson(circle),
    () => session.sealJson({ [payload]: 1n }),
    () => session.seal(bytes, { ttl: token }),
    () => none.json(),
    () => alice.sessions().open({ sessionId: token, state: token }),
    () => alice.verifyHandle('basket', token),
    () => sealwax.requestContextFromJson('tools/call', 'x', token),
  ]) {
    at(now, null, () => check(act, pieces(token, 12)));
  }
  for (const time of [now - 100_000, now + 60_000]) {
    at(time, null, () => check(() => session.open(token), pieces(token, 12)));
  }
});
