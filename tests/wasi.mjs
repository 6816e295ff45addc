// Runs tests that were built for wasm32-wasip1: `node tests/wasi.mjs TESTS.wasm [ARGUMENT...]`.

import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [path, ...rest] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: [path, ...rest],
  env: { PROPTEST_CASES: process.env.PROPTEST_CASES ?? '64' },
  preopens: { [process.cwd()]: process.cwd() },
});
const module = await WebAssembly.compile(await readFile(path));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
