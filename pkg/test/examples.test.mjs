import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { CONSUMER, MCP } from './consumer.mjs';

test('the quickstart does what it says', () => {
  const printed = run(['quickstart.mjs'], CONSUMER, {
    SEALWAX_KEYS: 'swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc',
  });
  assert.equal(printed, "{ asked: 'Delete note 7?' }\nprincipal_mismatch\nunauthentic\n");
});

const SOURCES = new URL('../src/', import.meta.url);

for (const file of readdirSync(SOURCES, { recursive: true })) {
  if (!file.endsWith('.ts')) continue;
  // An example of the SDKs runs where they are installed.
  const cwd = /^(mcp\b|otel|testing)/.test(file) ? MCP : CONSUMER;
  const source = readFileSync(new URL(file, SOURCES), 'utf8').replaceAll(/^ *\* ?/gm, '');
  for (const [, example] of source.matchAll(/```js\n(.*?)```/gs)) {
    test(`the example in ${file} does what it says`, () => {
      const expected = [...example.matchAll(/console\.log\(.*\); \/\/ (.*)/g)];
      // What throws stands last in an example, and says what.
      const thrown = example.match(/\n(.*); \/\/ throws (\w+)\n$/);
      const body = thrown
        ? example.replace(thrown[0], `\ntry { ${thrown[1]} } catch (e) { console.log(e.code) }\n`)
        : example;
      const lines = expected.map(([, line]) => line);
      if (thrown) lines.push(thrown[2]);
      const printed = run(['--input-type=module', '--eval', body], cwd);
      assert.deepEqual(printed.split('\n').slice(0, -1), lines);
    });
  }
}

function run(args, cwd, env) {
  return execFileSync(process.execPath, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
}
