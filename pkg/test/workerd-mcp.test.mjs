// A guarded server in workerd, bundled as for Workers, and the official client outside of it.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { MCP } from './consumer.mjs';

const WORKERD = fileURLToPath(new URL('node_modules/.bin/workerd', import.meta.url));
// As the first of the vectors.
const KEY = 'swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc';

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "sealwax.wasm", wasm = embed "sealwax.wasm"),
  ],
  bindings = [(name = "SEALWAX_KEYS", text = "${KEY}")],
  compatibilityDate = "2025-10-01",
);
`;

let worker;
let url;

before(async () => {
  const outDir = `${MCP}worker`;
  await build({
    root: MCP,
    configFile: false,
    logLevel: 'warn',
    resolve: { conditions: ['workerd', 'module'] },
    // The module is the platform's to compile, under the name that it is embedded by.
    plugins: [
      {
        name: 'wasm-by-the-platform',
        enforce: 'pre',
        resolveId: (id) => (id.endsWith('.wasm') ? { id: './sealwax.wasm', external: true } : null),
      },
    ],
    build: { outDir, lib: { entry: 'worker.mjs', formats: ['es'], fileName: 'worker' } },
  });
  copyFileSync(`${MCP}node_modules/sealwax/dist/sealwax.wasm`, `${outDir}/sealwax.wasm`);
  writeFileSync(`${outDir}/worker.capnp`, CONFIG);
  worker = spawn(WORKERD, ['serve', 'worker.capnp', '--control-fd=3'], {
    cwd: outDir,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const line = await new Promise((told) =>
    createInterface({ input: worker.stdio[3] }).once('line', told),
  );
  url = new URL(`http://127.0.0.1:${JSON.parse(line).port}/mcp`);
});

after(() => worker?.kill());

for (const era of ['2026-07-28', '2025-11-25']) {
  test(`workerd serves sessions to the official client, revision ${era}`, async () => {
    const { told } = await import(`${MCP}worker-client.mjs`);
    assert.deepEqual(await told(url, era, 'count', 2), ['1', '2']);
  });
}
