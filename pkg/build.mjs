// What tsc does not do: the module and its glue beside the compiled TypeScript, in both systems.

import { execFileSync } from 'node:child_process';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const WASM = '../build/wasm';

rmSync('dist', { recursive: true, force: true });
tsc('--project', 'tsconfig.json');
tsc('--project', 'tsconfig.cjs.json');
writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');

copyFileSync(`${WASM}/sealwax.wasm`, 'dist/sealwax.wasm');
copyFileSync(`${WASM}/raw.js`, 'dist/esm/raw.js');
// The command is for Node alone.
copyFileSync(`${WASM}/command.wasm`, 'dist/command.wasm');
copyFileSync(`${WASM}/command.js`, 'dist/esm/command.js');
copyFileSync('../cli/commands.json', 'dist/commands.json');
tsc(
  ...['--ignoreConfig', '--allowJs', '--noResolve', '--noCheck', '--target', 'es2022'],
  ...['--module', 'commonjs', '--moduleResolution', 'bundler', '--outDir', 'dist/cjs'],
  `${WASM}/raw.js`,
);

const embedded = readFileSync('dist/sealwax.wasm').toString('base64');
writeFileSync('dist/esm/embedded.js', `export const embedded = '${embedded}';\n`);
writeFileSync('dist/cjs/embedded.js', `exports.embedded = '${embedded}';\n`);

function tsc(...args) {
  execFileSync('node_modules/.bin/tsc', args, { stdio: 'inherit' });
}
