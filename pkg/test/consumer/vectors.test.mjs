import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import * as sealwax from 'sealwax';
import { vectors } from './api.mjs';
import { countVectors, runVectors } from './vectors.mjs';

for (const [system, load] of [
  ['ES', () => sealwax],
  ['CommonJS', () => createRequire(import.meta.url)('sealwax')],
]) {
  test(`the ${system} module passes every vector`, async () => {
    assert.deepEqual(await runVectors(load(), vectors), countVectors(vectors));
  });
}
