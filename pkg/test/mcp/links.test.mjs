// Links: what they make of what an author, a browser and another replica give them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { anonymous } from 'sealwax';
import { HandleRefused, LinkRefused } from 'sealwax/mcp';
import { TestClock, testCodec, testLedger } from 'sealwax/testing';
import { factoryOf, guardOf, modern, overHttp, text } from './wire.mjs';

/** What a tool made of it. */
async function made(guard, make) {
  let done;
  const call = async (_, ctx) => {
    done = await make(ctx);
    return text('done');
  };
  const sent = modern(1, 'tools/call', { name: 'x', arguments: {} });
  await overHttp(factoryOf({ 'tools/call': call }, guard), ...sent);
  return done;
}

test('whatever came is opened or not found, and nobody who is signed in is not anybody', async () => {
  const guard = guardOf();
  const reports = guard.links('report', { ttl: 60 });
  for (const came of [undefined, null, 7, {}, '', 'sw1.', '\ud800', 'x'.repeat(1 << 20)]) {
    const refused = (error) => error instanceof LinkRefused && error.status === 404;
    await assert.rejects(reports.open(came), refused);
  }
  const link = await made(guard, (ctx) => reports.seal(ctx, { id: 7 }));
  assert.match(link, /^[\w.-]+$/);
  for (const by of [undefined, null]) {
    await assert.rejects(reports.open(link, { by }), { code: 'invalid_argument' });
  }
  await assert.rejects(reports.open(link, { by: 'alice' }), TypeError);
  await assert.rejects(reports.open(link, { consume: 0 }), TypeError);
  const { id, ...opened } = await reports.open(link, { by: anonymous });
  assert.deepEqual(opened, { value: { id: 7 }, principal: { anonymous: true } });
  assert.equal((await reports.open(link)).id, id);
});

test('a mistake in a name or an option shows before the first request', async () => {
  const guard = guardOf();
  assert.throws(() => guard.links('a report'), { code: 'invalid_argument' });
  assert.throws(() => guard.links('report', { ttl: 0 }), { code: 'invalid_argument' });
  assert.throws(() => guard.links('report', { single: true }), /expected ttl, once, found single/);
  const cyclic = {};
  cyclic.own = cyclic;
  const refused = await made(guard, (ctx) =>
    guard
      .links('report')
      .seal(ctx, cyclic)
      .catch((error) => error),
  );
  assert.ok(refused instanceof HandleRefused);
  await assert.rejects(guard.cursor({}, 1), { code: 'invalid_argument' });
});

test('of two replicas that open it at once, one does', async () => {
  const clock = new TestClock();
  const ledger = testLedger(clock);
  // A ledger refuses what was sealed before it began, and for some seconds after that.
  clock.advance(3600);
  const codec = testCodec(clock);
  const [one, other] = [1, 2].map(() => guardOf({ codec, ledger }));
  const reports = [one, other].map((guard) => guard.links('report', { once: true }));
  const link = await made(one, (ctx) => reports[0].seal(ctx, 'once'));
  const preview = await reports[1].open(link, { consume: false });
  assert.equal(preview.value, 'once');
  const opened = await Promise.allSettled(reports.map((links) => links.open(link)));
  assert.deepEqual(opened.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const { reason } = opened.find(({ status }) => status === 'rejected');
  assert.equal(reason.status, 404);
});
