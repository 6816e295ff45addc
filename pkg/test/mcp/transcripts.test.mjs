// The transcripts of tests/vectors/guard.json, played on real servers behind a guard, each held to what
// it says; guard.py beside them says what they mean.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { Stage } from './transcript-server.mjs';
import { file, sealerOf, stopClock, World } from './transcript-world.mjs';

const SESSION = 'io.modelcontextprotocol/session';
let letGo;
before(() => {
  letGo = stopClock();
});
after(() => letGo());

test('there are enough of them', () => {
  assert.ok(file.transcripts.length >= 300);
});

for (const { name, settings, events, not } of file.transcripts) {
  test(name, { skip: not?.typescript }, async () => {
    const world = new World();
    const stage = new Stage(world, settings, compare);
    try {
      await stage.play(events);
    } finally {
      await stage.close();
    }
  });
}

function compare(world, event, found) {
  const { reported, asked, anybodys, commands, delivered, did = [], answered } = event;
  if (found.wrong) throw found.wrong;
  assert.deepEqual(found.reported, reported, 'reported');
  assert.deepEqual(found.asked, asked, 'asked');
  if (anybodys) assert.deepEqual(found.anybodys, anybodys, 'anybodys');
  if (commands) assert.deepEqual(found.commands, commands, 'commands');
  if (delivered === null) assert.equal(found.delivered, null, 'delivered');
  for (const [name, value] of Object.entries(delivered ?? {})) {
    assert.deepEqual(found.delivered[name] ?? null, value, name);
  }
  if (delivered !== null) assert.notEqual(found.delivered, null, 'delivered');
  assert.equal(found.did.length, did.length);
  for (const [at, expected] of did.entries()) matches(world, expected, found.did[at], 'did');
  if (event.via !== 'http' && answered === null) return assert.equal(found.answered, null);
  const error = answered.error ?? answered.message?.error;
  if (error === undefined) return matches(world, answered, found.answered, 'answered');
  const message = event.via === 'http' ? found.answered.message : found.answered;
  exactly(world, echoed(error, found.sent), message.error, 'error');
  if (answered.status) assert.equal(found.answered.status, answered.status);
}

/** An error: it has no other members, and its data neither. */
function exactly(world, expected, error, place) {
  const names = (value) => Object.keys(value ?? {}).sort();
  assert.deepEqual(names(error), names(expected), place);
  assert.deepEqual(names(error.data), names(expected.data), place);
  matches(world, expected, error, place);
}

/** `$echo` is the session id that was sent. */
function echoed(error, sent) {
  if (error.data?.sessionId !== '$echo') return error;
  const metadata = sent.params?._meta?.[SESSION];
  return { ...error, data: { sessionId: sent.sessionId ?? metadata.sessionId } };
}

/** At least what is expected. */
function matches(world, expected, value, place) {
  if (typeof expected !== 'object' || expected === null) {
    return assert.deepEqual(value ?? null, expected, place);
  }
  if ('$token' in expected) return token(world, expected.$token, value, place);
  if ('$session' in expected) return session(world, expected, value, place);
  if ('$handle' in expected) return assert.equal(typeof value.handle, 'string', place);
  if (Array.isArray(expected)) assert.equal(value.length, expected.length, place);
  for (const [name, member] of Object.entries(expected)) {
    if (name === '$absent') {
      for (const absent of member) {
        // The SDK has a member of its own in every `_meta`.
        const found = absent === '_meta' ? value._meta?.[SESSION] : value[absent];
        assert.equal(found, undefined, `${place}.${absent}`);
      }
    } else {
      assert.ok(Object.hasOwn(Object(value), name), `${place}.${name} of ${JSON.stringify(value)}`);
      matches(world, member, value[name], `${place}.${name}`);
    }
  }
}

function token(world, expected, text, place) {
  if (typeof expected === 'string') return assert.equal(text, world.tokens.get(expected), place);
  const opened = sealerOf(world.view({ as: expected.as }), expected).open(text);
  if (expected.name) world.tokens.set(expected.name, text);
  if (expected.ttl) assert.equal(opened.expiresAt, opened.issuedAt + expected.ttl, place);
  const payload = new TextDecoder().decode(opened.payload);
  if (expected.payload !== undefined) assert.equal(payload, expected.payload, place);
  for (const [name, value] of Object.entries(expected.json ?? {})) {
    assert.deepEqual(JSON.parse(payload)[name], value, place);
  }
}

function session(world, { $session: name, payload, generation, version }, value, place) {
  const { sessionId, state } = value;
  const versions = world.sessions.get(name) ?? [];
  assert.equal(typeof sessionId, 'string', place);
  if (versions.length > 0) assert.equal(sessionId, versions.at(-1).sessionId, place);
  if (version !== undefined) return assert.equal(state, versions[version].state, place);
  if (payload !== undefined) {
    const opened = world.view({ key: 'both' }).sessions({ ttl: 1 }).open({ sessionId, state });
    assert.equal(new TextDecoder().decode(opened.payload), payload, place);
    assert.equal(opened.generation, generation, place);
  } else if (place !== 'did') assert.equal(state, undefined, place);
  if (state !== undefined || versions.length === 0) world.seen(name, value);
}
