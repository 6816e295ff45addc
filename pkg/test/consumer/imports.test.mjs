// An exception at each import of the module, at each of its calls. The call that it hits fails or gets over it, and after
// it the package works as before, or every call says what to do: nothing in between, and no nonce twice.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('./failing-imports.mjs', import.meta.url));

test('each import may fail', { timeout: 600_000 }, (t) => {
  let next = { name: 0, at: 1 };
  const found = [];
  while (next !== undefined) {
    const args = ['--no-warnings', SCRIPT, String(next.name), String(next.at)];
    const run = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.equal(run.status, 0, run.stderr);
    const told = JSON.parse(run.stdout);
    found.push(...told.outcomes);
    next = told.next;
  }
  const imports = new Set(found.map(({ name }) => name)).size;
  const [works, ended] = ['works', 'ended'].map(
    (one) => found.filter(({ outcome }) => outcome === one).length,
  );
  t.diagnostic(`${imports} imports: ${works} failures left it working, ${ended} ended it`);
  // What a host throws itself does not come so far: stack.test.mjs has it.
  assert.ok(imports > 20 && works > 0 && ended > 0);
});
