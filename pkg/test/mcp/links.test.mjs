// Links: what they make of what an author and a browser give them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { anonymous } from 'sealwax';
import { LinkRefused } from 'sealwax/mcp';
import { guardOf, inTool } from './wire.mjs';

test('whatever came is opened or not found, and nobody who is signed in is not anybody', async () => {
  const guard = guardOf();
  const reports = guard.links('report', { ttl: 60 });
  for (const came of [undefined, null, 7, {}, '', 'sw1.', '\ud800', 'x'.repeat(1 << 20)]) {
    const refused = (error) => error instanceof LinkRefused && error.status === 404;
    await assert.rejects(reports.open(came), refused);
  }
  const link = await inTool(guard, (ctx) => reports.seal(ctx, { id: 7 }));
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
