// The guard's rules stand in the engine: the adapter on the SDK has no copy of any.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const FOLDER = new URL('../src/mcp/', import.meta.url);
// A client knows the codes that it receives.
const files = readdirSync(FOLDER).filter((name) => name !== 'client.ts');

/** The code without its comments. */
function codeOf(name) {
  const text = readFileSync(new URL(name, FOLDER), 'utf8');
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/\/\/.*/g, '');
}

for (const [what, pattern] of [
  ['seals, opens, verifies or renews anything itself', /\.(seal|open|verify|renew)\w*\(/],
  ['knows a fixed answer by its code', /-32\d{3}/],
  ['knows a fixed answer by its text', /internal error|not found|invalid or expired|bad request/i],
  ['knows which methods carry what', /tools\/|prompts\/|resources\/|nextCursor/],
]) {
  test(`no file of the adapter ${what}`, () => {
    assert.ok(files.length > 20);
    assert.deepEqual(
      files.filter((name) => pattern.test(codeOf(name))),
      [],
    );
  });
}
