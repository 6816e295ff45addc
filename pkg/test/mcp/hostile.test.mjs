// Objects that lie about themselves, at every public function.
//
// Whatever is given, a call returns, or throws a SealwaxError, a TypeError, or what the object itself threw; what is
// sealed is what the object held; and the module works afterwards. SEALWAX_HOSTILE=100000 tries so many of each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

import fc from 'fast-check';
import * as sealwax from 'sealwax';
import { Guard, MemoryLedger, RedisLedger } from 'sealwax/mcp';
import { TestClock, testCodec } from 'sealwax/testing';

const { anonymous, answer, Codec, Key, KeyRing, requestContext, SealwaxError } = sealwax;
const numRuns = Number(process.env.SEALWAX_HOSTILE ?? 10);
const seed = process.env.SEALWAX_HOSTILE === undefined ? 1 : undefined;
const check = (...given) => fc.assert(fc.property(...given), { numRuns, seed, endOnFailure: true });

const key = Key.generate();
const ring = new KeyRing([key]);
const codec = new Codec({ keys: ring, audience: 'https://mcp.example.com' });
const alice = codec.view({ subject: 'alice' });
const content = Uint8Array.of(1, 2, 3);
const kept = alice.session().seal(content);
const opened = alice.session().open(kept);
const sent = alice.sessions().create(content);
const session = alice.sessions().open(sent);

/** What a hostile object throws of its own accord. */
class Lied extends Error {}

/** What was sealed before still opens, for Alice alone: a module whose memory was written over does not get here. */
function works() {
  assert.deepEqual(alice.session().open(kept).payload, content);
  const token = alice.cursor('tools/list').seal(content);
  assert.deepEqual(alice.cursor('tools/list').open(token).payload, content);
  assert.deepEqual(ring.ids, [key.id]);
  const mallory = codec.view({ subject: 'mallory' });
  assert.throws(() => mallory.session().open(kept), { code: 'principal_mismatch' });
}

/** Returns the result, or nothing for an error that may be. */
function attempt(act) {
  try {
    return act();
  } catch (error) {
    const may = [SealwaxError, TypeError, Lied].some((of) => error instanceof of);
    assert.ok(may, `${act}: ${error?.stack ?? typeof error}`);
    return undefined;
  } finally {
    works();
  }
}

// ---- objects ----

// Each is a function that makes the object: fast-check looks into what it is given, and an object may mind.
const made = (of) => of.map((value) => () => value);
const any = (of) => fc.constantFrom(...of);

const lies = [
  ...[0, 1, 3, 32, 64, 4096, 2 ** 31, 2 ** 32, 2 ** 53, -1, -0, 0.5, Number.NaN, 1 / 0],
  ...[1n, true, 'x', '\ud800', '', null, undefined, Symbol.iterator, [], {}, content],
  ...[Lied, alice, Uint8Array],
];
const answers = fc.array(any(lies), { minLength: 1, maxLength: 3 });

/** Says one thing after another, and the last for ever; some call us back. */
function says(answers) {
  let at = 0;
  return () => {
    const one = answers[Math.min(at++, answers.length - 1)];
    if (one === Lied) throw new Lied();
    return one === alice ? alice.session().seal(new Uint8Array(4000)).length : one;
  };
}

const names = any([
  ...'length byteLength byteOffset buffer constructor subarray slice set map find some'.split(' '),
  ...'join toJSON toString valueOf then isWellFormed keys entries forEach __proto__ 0 a'.split(' '),
  ...'sessionId state ttl noExpiry maxAge subject client issuer anonymous only context'.split(' '),
  ...'keys audience payloadLimit clockTolerance sessionMaxAge iss sub azp client_id error warn'.split(
    ' ',
  ),
  ...'codec principal ledger timeLimit requestStateTtl run'.split(' '),
  ...[Symbol.iterator, Symbol.toPrimitive, Symbol.species, Symbol.toStringTag],
]);

/** Adds members of its own to an object: values, getters and methods. */
const decorated = (base) => {
  const kinds = { get: says, value: (answers) => answers[0], method: says };
  const member = fc.tuple(names, answers, any(Object.keys(kinds)));
  return fc.tuple(base, fc.array(member, { maxLength: 4 })).map(([make, members]) => () => {
    const object = make();
    for (const [name, answers, how] of members) {
      const what = { [how === 'get' ? how : 'value']: kinds[how](answers) };
      try {
        Object.defineProperty(object, name, { ...what, enumerable: true, configurable: true });
      } catch {
        // It has that, and keeps it.
      }
    }
    return object;
  });
};

/** A proxy some of whose traps lie. */
const proxied = (base) => {
  const traps = any(['get', 'has', 'ownKeys', 'getPrototypeOf', 'getOwnPropertyDescriptor']);
  return fc.tuple(base, fc.dictionary(traps, answers)).map(([make, traps]) => () => {
    const lying = Object.entries(traps).map(([name, answers]) => [name, says(answers)]);
    return new Proxy(make(), Object.fromEntries(lying));
  });
};

const raw = fc.uint8Array({ maxLength: 64 });

/** Arrays over memory that shrinks, grows, or is shared. */
const overMemory = fc.tuple(raw, fc.nat(64), fc.nat(4)).map(([bytes, size, how]) => () => {
  const resizable = new ArrayBuffer(64, { maxByteLength: 8192 });
  const shared = new SharedArrayBuffer(64, { maxByteLength: 8192 });
  const arrays = [new Uint8Array(resizable), new Uint8Array(resizable, 8, 32), Buffer.from(bytes)];
  resizable.resize(size);
  shared.grow(64 + size);
  return [...arrays, new Uint8Array(shared), new Uint8Array(shared, 3, 32)][how];
});

const arrays = fc.oneof(
  overMemory,
  any([4000, 4096, 4097, 1 << 21]).map((size) => () => new Uint8Array(size).fill(7)),
  raw.map((bytes) => () => Uint8Array.from(bytes)),
  // Of another realm.
  raw.map((bytes) => () => runInNewContext('Uint8Array').from(bytes)),
);
const hostileArrays = fc.oneof(arrays, decorated(arrays));

/** What is like bytes, and is none. */
const noArrays = fc.oneof(
  proxied(arrays),
  any([Uint8ClampedArray, Int8Array, Float64Array]).map((of) => () => new of(32)),
  fc.constant(() => Object.setPrototypeOf(new Float64Array(32), Uint8Array.prototype)),
  made(
    any([
      ...[new ArrayBuffer(32), new SharedArrayBuffer(32), new DataView(new ArrayBuffer(32))],
      ...[{ length: 32 }, [1, 2], 'x', Object.create(new Uint8Array(32))],
    ]),
  ),
  raw.map((bytes) => () => {
    const gone = Uint8Array.from(bytes);
    structuredClone(gone.buffer, { transfer: [gone.buffer] });
    return gone;
  }),
);

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  any(['alice', 'tools/list', 'basket', kept, sent.sessionId, '\ud800', 'a\udfff', '\0', '']),
);
const odd = [
  () => 'é'.repeat(1e6),
  () => JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
  () => JSON.parse('{"__proto__":{"ttl":5},"a":1}'),
  () => Object.create({ subject: 'inherited', ttl: 5 }),
  () => {
    const cyclic = [];
    return Object.assign(cyclic, [cyclic]);
  },
  () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  },
];
const plain = fc.anything({
  ...{ maxDepth: 3, withBigInt: true, withBoxedValues: true, withDate: true, withMap: true },
  ...{ withSet: true, withTypedArray: true, withSparseArray: true, withNullPrototype: true },
  withUnicodeString: true,
});
const members = any('ttl noExpiry maxAge sessionId state subject only a b'.split(' '));
const objects = fc.oneof(
  fc.dictionary(members, plain).map((members) => () => ({ ...members })),
  fc.array(plain, { maxLength: 3 }).map((items) => () => [...items]),
);
const ours = [codec, alice, opened, session, sent, key, ring, anonymous, () => 1, class {}];
const anything = fc.oneof(
  ...[made(plain), made(texts), made(any(lies)), made(any(ours)), any(odd)],
  ...[hostileArrays, noArrays, decorated(objects), proxied(objects), proxied(decorated(objects))],
);

// ---- tests ----

/** A copy of what an array holds, whatever it says. */
function held(array) {
  const TypedArray = Object.getPrototypeOf(Uint8Array.prototype);
  const [length, buffer, offset] = ['length', 'buffer', 'byteOffset'].map((name) =>
    Object.getOwnPropertyDescriptor(TypedArray, name).get.call(array),
  );
  return length === 0 ? new Uint8Array() : Uint8Array.from(new Uint8Array(buffer, offset, length));
}

test('what is sealed is what the array holds', () => {
  check(hostileArrays, (make) => {
    const array = make();
    const expected = held(array);
    const fits = expected.length <= 4096;
    const [sessions, ids] = [alice.session(), alice.sessions()];
    for (const [of, seal] of [
      [sessions, () => sessions.seal(array)],
      [sessions, () => sessions.renew(opened, array)],
      [ids, () => ids.create(array)],
      [ids, () => ids.renew(session, array)],
    ]) {
      const token = attempt(seal);
      assert.equal(token !== undefined, fits);
      if (fits) assert.deepEqual(of.open(token).payload, expected);
    }
    const bound = attempt(() => alice.requestState(array).seal(content));
    assert.equal(bound !== undefined, expected.length === 32);
    if (bound !== undefined) alice.requestState(expected).open(bound);
  });
});

test('a value of JSON is sealed as one', () => {
  check(anything, (make) => {
    const value = make();
    const token = attempt(() => alice.session().sealJson(value));
    if (token !== undefined) alice.session().open(token).json();
    const context = attempt(() => requestContext('tools/call', 'x', value));
    if (context !== undefined) assert.equal(context.length, 32);
  });
});

/** Uses what a function made, which may be where its arguments count. */
function used(made) {
  made?.seal?.(content);
  made?.create?.(content);
  made?.session?.().seal(content);
  made?.free?.();
}

/** Of mistakes in `protect`. */
const logger = { warn() {}, error() {}, info() {} };
const guarded = { codec, principal: 'anonymous', logger };
const service = { keys: ring, audience: 'x' };

/** Public functions, of two arguments at most. */
const calls = {
  'open with an age': (a) => alice.session().open(kept, { maxAge: a }),
  'life of a token': (a, b) => alice.session().seal(content, { ttl: a, noExpiry: b }),
  bindings: (a, b) => alice.custom('x', { sessionId: a, context: b }).seal(content),
  'verify a handle': (a, b) => alice.verifyHandle('basket', a, b),
  'members of a session': (a, b) => alice.sessions().open({ sessionId: a, state: b }),
  'parts of a view': (a, b) => used(codec.view({ subject: a, client: b })),
  'parts of claims': (a, b) => sealwax.principalFromClaims({ iss: 'i', sub: a, azp: b }),
  'arguments of a request': (a, b) => requestContext('m', 't', a, b),
  'named arguments': (a, b) => requestContext('m', 't', { a: 1 }, { only: [a, b] }),
  'request of a text': (a, b) => sealwax.requestContextFromJson('m', 't', a, b),
  'answer to': (a, b) => answer('sep-1359', { error: a, sessionId: b }),
  'codec of a file': (a, b) => used(new Codec({ keysFile: a, audience: 'x', keysInterval: b })),
  'codec of a test': (a) => used(testCodec(new TestClock(), a)),
  'ring of two': (a, b) => new KeyRing([a, b]),
  'ledger in memory': (a) => new MemoryLedger(a),
  'ledger in Redis': (a, b) => new RedisLedger(a, b),
};
for (const [of, names] of [
  [() => alice.session(), 'open seal renew'],
  [() => alice.sessions(), 'open renew fork verify'],
  [() => alice, 'state requestState handleState cursor custom sessions'],
  [() => alice, 'mintHandle verifyHandle verifySessionId'],
  [() => new Codec(service), 'view setKeys'],
  [() => new Guard(guarded), 'protect referenceHandles selfContainedHandles sessions links'],
  [() => new Guard(guarded), 'fetch node listener confirm confirmDestructive'],
  [() => Codec, 'fromEnv'],
  [() => Key, 'parse fromSecret derive'],
  [() => KeyRing, 'parse'],
  [() => sealwax, 'requestContext requestContextFromJson principalFromClaims answer'],
  [() => sealwax, 'inspect tokenFields'],
]) {
  for (const name of names.split(' ')) {
    calls[`${of} ${name}`] = (a, b) => {
      const made = of()[name](a, b);
      // `protect` gives back what it got.
      if (made !== a) used(made);
    };
  }
}
for (const [of, good, names] of [
  [Codec, service, 'keys audience payloadLimit clockTolerance sessionMaxAge logger'],
  [Guard, guarded, 'codec principal ledger ledgerOptions timeLimit requestStateTtl confirmTtl'],
  [Guard, guarded, 'only logger onEvent onRefused'],
]) {
  calls[`new ${of.name}`] = (a) => used(new of(a));
  for (const name of names.split(' '))
    calls[`new ${of.name} ${name}`] = (a) => used(new of({ ...good, [name]: a }));
}

for (const [name, call] of Object.entries(calls)) {
  test(`no call fails otherwise than it may: ${name}`, () => {
    check(anything, anything, (a, b) => void attempt(() => call(a(), b())));
  });
}
