// The declarations, compiled in a user's project: by the TypeScript of this package, and by the least one supported.

import { execFileSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CONSUMER, MCP } from './consumer.mjs';

const LEAST = 'typescript-5.4';
const FOLDERS = { typescript: '../node_modules', [LEAST]: 'node_modules' };

/** Fails where something does not compile, or compiles against its `@ts-expect-error`. */
function compile(compiler, folder, options, ...files) {
  const config = `${folder}types/tsconfig.test.json`;
  const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, target: 'es2022' };
  const compilerOptions = { ...strict, lib: ['es2022'], types: [], ...options };
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const tsc = fileURLToPath(new URL(`${FOLDERS[compiler]}/${compiler}/bin/tsc`, import.meta.url));
  execFileSync(process.execPath, [tsc, '--project', config], { stdio: 'inherit' });
}

for (const compiler of ['typescript', LEAST]) {
  test(`${compiler}: the types hold for both module systems`, () => {
    cpSync(`${CONSUMER}types/use.mts`, `${CONSUMER}types/use.cts`);
    compile(compiler, CONSUMER, { module: 'nodenext' }, 'use.mts', 'use.cts');
    const lib = ['es2022', 'dom'];
    compile(compiler, CONSUMER, { module: 'nodenext', lib }, 'slim.mts');
  });

  test(`${compiler}: the types hold for a bundler`, () => {
    const bundler = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'] };
    compile(compiler, CONSUMER, bundler, 'use.mts', 'slim.mts');
  });

  test(`${compiler}: the types hold against the SDK's own`, () => {
    const options = { module: 'nodenext', lib: ['es2022', 'dom'], types: ['node'] };
    compile(compiler, MCP, options, 'use.mts');
  });
}

// Only versions before 7 resolve modules so: by the main file's folder, without exports.
test(`${LEAST}: CommonJS with the resolution of Node 10 finds every entry point`, () => {
  const options = { module: 'commonjs', moduleResolution: 'node10', lib: ['es2022', 'dom'] };
  cpSync(`${CONSUMER}types/slim.mts`, `${CONSUMER}types/slim.ts`);
  compile(LEAST, CONSUMER, options, 'slim.ts');
  cpSync(`${MCP}types/entries.mts`, `${MCP}types/entries.ts`);
  // Of the SDK, this resolution finds no types.
  compile(LEAST, MCP, { ...options, types: ['node'], skipLibCheck: true }, 'entries.ts');
});
