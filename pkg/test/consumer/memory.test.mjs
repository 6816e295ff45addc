// The module's memory never shrinks, so it must not grow by what strangers send, nor with time.

import assert from 'node:assert/strict';
import { hkdfSync, randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { answer, Codec, inspect, Key, KeyRing, requestContext } from 'sealwax/slim';
import { exported, internal, started, whereFull } from './exported.mjs';

started();
const { memory, __wbindgen_malloc: allocate } = exported;
const keys = new KeyRing([Key.generate()]);
const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
const payload = new Uint8Array(100);

test('what is too large is refused by its whole length and takes no memory', () => {
  const alice = codec.view({ subject: 'alice' });
  const huge = 'x'.repeat(100_000_000);
  for (const act of [
    () => alice.session().open(huge),
    () => alice.verifySessionId(huge),
    () => alice.verifyHandle('tx', huge),
    () => alice.sessions().open({ sessionId: alice.mintSessionId(), state: huge }),
    () => alice.sessions().create(new Uint8Array(100_000_000)),
    () => alice.session().seal(new Uint8Array(100_000_000)),
    () => inspect(huge),
  ]) {
    assert.throws(act, { code: 'too_large', message: /found 100000000$/ });
  }
  assert.throws(() => alice.state(huge).seal(payload), { code: 'invalid_argument' });
  assert.deepEqual(answer('sep-1359', { sessionId: huge }), answer('sep-1359'));
  assert.ok(memory.buffer.byteLength < 16_000_000, `${memory.buffer.byteLength} bytes`);
});

test('a payload that grows while it is sealed is not written over the memory', () => {
  const sealer = codec.view({ subject: 'alice' }).session();
  const { now } = Date;
  for (const kind of [ArrayBuffer, SharedArrayBuffer]) {
    const buffer = new kind(64, { maxByteLength: 1 << 20 });
    // As another thread may, at any moment.
    Date.now = () => {
      if (kind === ArrayBuffer) buffer.resize(1 << 20);
      else buffer.grow(1 << 20);
      return now();
    };
    try {
      assert.throws(() => sealer.seal(new Uint8Array(buffer)), RangeError);
    } finally {
      Date.now = now;
    }
    assert.deepEqual(sealer.open(sealer.seal(payload)).payload, payload);
  }
});

test('what passes between JavaScript and the module is wiped, also where the stack is full', async () => {
  const raw = await internal('raw.js');
  const sealer = codec.view({ subject: 'alice' }).session();
  const text = 'a payload that is told to nobody else';
  const bytes = new TextEncoder().encode(text);
  const token = sealer.seal(bytes);
  const address = raw.shared(1 << 12);
  for (const [call, needle, answer] of [
    [() => sealer.seal(bytes), text, 'sw1.'],
    [() => sealer.open(token), token.slice(-9)],
    [() => requestContext('tools/call', text, {}), text],
  ]) {
    const holds = (text) => Buffer.from(memory.buffer, address, 1 << 12).includes(text);
    let left = 0;
    const watched = () => {
      try {
        call();
      } finally {
        if (holds(needle)) left += 1;
      }
    };
    watched();
    assert.ok(answer === undefined || holds(answer));
    assert.ok(whereFull(watched).length > 0);
    assert.equal(left, 0);
  }
});

test('the whole memory holds no payload after it, and no key that nobody has', () => {
  const key = Key.generate();
  const text = key.toText();
  const secret = Buffer.from(text.slice(5), 'base64url').subarray(0, 32);
  const derived = (info) => Buffer.from(hkdfSync('sha256', secret, 'sealwax/v1', info, 32));
  const payload = randomBytes(4000);
  // Pieces, for what is freed begins with what the allocator writes there.
  const needles = {
    payload: payload.subarray(64, 96),
    end: payload.subarray(-32),
    text: Buffer.from(text).subarray(8, 40),
    secret,
    seal: derived('seal'),
    id: derived('id'),
    principal: derived('principal'),
  };
  const found = (...names) => {
    const all = Buffer.from(memory.buffer);
    return names.filter((name) => all.includes(needles[name]));
  };
  const inUse = ['payload', 'end', 'text', 'secret', 'seal'];
  const ring = KeyRing.parse(`# of today\n${text}`);
  const service = new Codec({ keys: ring, audience: 'https://mcp.example.com' });
  const [alice, mallory] = ['alice', 'mallory'].map((subject) => service.view({ subject }));
  const token = alice.session().seal(payload);
  assert.deepEqual(found(...inUse), ['secret', 'seal']);
  assert.deepEqual(Buffer.from(alice.session().open(token).payload), payload);
  assert.throws(() => mallory.session().open(token), { code: 'principal_mismatch' });
  // Its last bits are zero, so that this is one spelling of other bytes.
  const altered = `${token.slice(0, -2)}${token.endsWith('AA') ? 'B' : 'A'}A`;
  assert.throws(() => alice.session().open(altered), { code: 'unauthentic' });
  assert.throws(() => alice.session().open(token, { maxAge: 0 }), { code: 'expired' });
  alice.sessions().open(alice.sessions().create(payload)).free();
  alice.verifyHandle('basket', alice.mintHandle('basket'));
  assert.deepEqual(found(...inUse), ['secret', 'seal']);
  for (const held of [alice, mallory, service, ring, key]) held.free();
  assert.deepEqual(found(...Object.keys(needles)), []);
});

/** Takes the room that earlier tests left free, in which a leak would not show. */
function fill() {
  for (const size of [1 << 16, 1 << 12, 1 << 8]) {
    const before = memory.buffer.byteLength;
    while (memory.buffer.byteLength === before) allocate(size, 1);
  }
}

test('twenty thousand requests leave it as it is', () => {
  const requests = (count, leak = () => {}) => {
    for (let at = 0; at < count; at++) {
      const view = codec.view({ subject: `user-${at}` });
      const sealer = view.state(view.mintSessionId());
      sealer.renew(sealer.open(sealer.seal(payload)), payload);
      assert.throws(() => sealer.open('sw1.'));
      view.free();
      leak();
    }
    return memory.buffer.byteLength;
  };
  requests(1_000);
  fill();
  const before = requests(1_000);
  assert.equal(requests(20_000), before);
  // The smallest leak of a request shows.
  assert.ok(requests(20_000, () => allocate(1, 1)) > before);
});

// None collected, either takes 15 megabytes: a view has a tag for each key.
const ring = new KeyRing(Array.from({ length: 16 }, Key.generate));
const service = new Codec({ keys: ring, audience: 'https://mcp.example.com' });
const { Engine } = await internal('mcp/engine.js');
const only = { tool: Array.from({ length: 1_000 }, (_, at) => `argument ${at}`) };
for (const [what, times, make] of [
  ['view', 1_000, (at) => service.view({ subject: at })],
  ['guard', 10, () => new Engine(codec, { only })],
]) {
  test(`a ${what} that nobody frees is collected`, async () => {
    const before = memory.buffer.byteLength;
    for (let at = 0; at < 30; at++) {
      for (let time = 0; time < times; time++) make(`${at}-${time}`);
      globalThis.gc();
      // Finalisers run between turns of the event loop.
      await new Promise(setImmediate);
    }
    const grown = memory.buffer.byteLength - before;
    assert.ok(grown < 2_000_000, `${grown} bytes`);
  });
}
