import { execFileSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CONSUMER } from './consumer.mjs';

const TSC = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url));

/** Fails where something does not compile, or compiles against its `@ts-expect-error`. */
function compile(...options) {
  const strict = ['--ignoreConfig', '--strict', '--exactOptionalPropertyTypes', '--noEmit'];
  const bare = ['--target', 'es2022', '--lib', 'es2022', '--types', ''];
  execFileSync(TSC, [...strict, ...bare, ...options], {
    cwd: `${CONSUMER}types`,
    stdio: 'inherit',
  });
}

test('the types hold for both module systems', () => {
  copyFileSync(`${CONSUMER}types/use.mts`, `${CONSUMER}types/use.cts`);
  compile('--module', 'nodenext', 'use.mts', 'use.cts');
});

test('the types hold for a bundler', () => {
  compile('--module', 'esnext', '--moduleResolution', 'bundler', 'use.mts');
});
