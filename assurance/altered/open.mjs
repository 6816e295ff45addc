// Opens, through the npm package, what `altered print COUNT` writes.

import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';

import { SealwaxError } from 'sealwax';
import { TestClock, testCodec } from 'sealwax/testing';

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const settings = JSON.parse((await lines.next()).value);
const { keys, audience, subject, nowMs, maxAge, sessionId, handleType } = settings;
const view = testCodec(new TestClock(new Date(nowMs)), { keys, audience }).view({ subject });
const context = Uint8Array.from(settings.context);

const sealed = (sealer) => (text) => Buffer.from(sealer.open(text, { maxAge }).payload);
const open = {
  state: sealed(view.state(sessionId)),
  'request-state': sealed(view.requestState(context)),
  session: sealed(view.session()),
  cursor: sealed(view.cursor('tools/list')),
  'handle-state': sealed(view.handleState(handleType)),
  custom: sealed(view.custom('wizard', { sessionId, context })),
  'session-id': (text) => view.verifySessionId(text, { maxAge }) && Buffer.alloc(0),
  handle: (text) => view.verifyHandle(handleType, text, { maxAge }) && Buffer.alloc(0),
};

/** Returns the payload in base64, or the code of the refusal. */
function found(what, text) {
  try {
    return open[what](text).toString('base64');
  } catch (error) {
    if (error instanceof SealwaxError) return error.code;
    throw error;
  }
}

const begin = performance.now();
const counts = { altered: 0, unaltered: 0 };
for await (const line of lines) {
  const [what, altered, expected, text] = JSON.parse(line);
  assert.equal(found(what, text), expected, line);
  counts[altered ? 'altered' : 'unaltered'] += 1;
}
assert.ok(counts.altered > 0 && counts.unaltered > 0);
const seconds = (performance.now() - begin) / 1000;
const rate = Math.round(counts.altered / seconds);
console.log(
  `${counts.altered} altered, and none opened; ${counts.unaltered} unaltered, and each opened; ${rate} a second`,
);
