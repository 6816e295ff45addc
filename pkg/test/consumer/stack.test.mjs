// What a host throws in the middle of a call, from a full stack or a clock, must not leave the module unusable.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { started, whereFull } from './exported.mjs';
import { works } from './works.mjs';

started();
const calls = await works();

/** From another place on the stack. */
function shifted(shift, call) {
  return shift > 0 ? shifted(shift - 1, call) : whereFull(call);
}

for (const [name, call] of Object.entries(calls)) {
  test(`${name} where the stack is full`, () => {
    call();
    for (let shift = 0; shift < 40; shift += 1) {
      const errors = shifted(shift, call);
      assert.ok(errors.length > 0);
      for (const error of errors) assert.ok(error instanceof RangeError, String(error));
      for (const after of Object.values(calls)) after();
    }
  });
}

for (const [object, name] of [
  [Date, 'now'],
  [performance, 'now'],
  [crypto, 'getRandomValues'],
]) {
  test(`${name} that throws, or gives no number`, (t) => {
    for (const bad of [() => assert.fail('of the host'), () => Symbol('no number')]) {
      const { mock } = t.mock.method(object, name, bad);
      for (const call of [1, 2, 3].flatMap(() => Object.values(calls))) {
        try {
          call();
        } catch {
          // What it is, the host's error or a refusal, is no matter here.
        }
      }
      mock.restore();
      for (const after of Object.values(calls)) after();
    }
  });
}
