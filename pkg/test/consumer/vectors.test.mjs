import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';

import { countVectors, runVectors } from './vectors.mjs';

const files = ['v1', 'more'].map((name) =>
  JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8')),
);

test('the ES module passes every vector', async () => {
  const sealwax = await import('sealwax');
  assert.deepEqual(await runVectors(sealwax, files), countVectors(files));
});

test('the CommonJS module passes every vector', async () => {
  const sealwax = createRequire(import.meta.url)('sealwax');
  assert.deepEqual(await runVectors(sealwax, files), countVectors(files));
});
