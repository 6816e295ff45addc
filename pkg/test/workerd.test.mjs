// In workerd: every vector, as the files are installed; and a guarded server, bundled as for Workers, with the official client outside.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'vite';

import { FILES } from './consumer/vectors.mjs';
import { CONSUMER, expectedCount, INSTALLED, MCP, manifest } from './consumer.mjs';

const WORKERD = fileURLToPath(new URL('node_modules/.bin/workerd', import.meta.url));
// As the first of the vectors.
const KEY = 'swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc';

/** Starts a worker of a folder's modules, until the test ends, and returns where it serves. */
async function served(t, cwd, modules) {
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    ${modules.join(',\n    ')},
  ],
  bindings = [(name = "SEALWAX_KEYS", text = "${KEY}")],
  compatibilityDate = "2025-10-01",
);
`;
  writeFileSync(`${cwd}/worker.capnp`, config);
  const worker = spawn(WORKERD, ['serve', 'worker.capnp', '--control-fd=3'], {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  t.after(() => worker.kill());
  const line = await new Promise((told) =>
    createInterface({ input: worker.stdio[3] }).once('line', told),
  );
  return new URL(`http://127.0.0.1:${JSON.parse(line).port}/mcp`);
}

const embed = (kind, name) => `(name = "${name}", ${kind} = embed "${name}")`;

test('workerd passes every vector', async (t) => {
  // A bundler would follow the `workerd` condition to them.
  const dist = readdirSync(`${INSTALLED}dist/esm`, { recursive: true }).filter((file) =>
    file.endsWith('.js'),
  );
  const files = dist.map((file) => `node_modules/sealwax/dist/esm/${file}`);
  const entry = (name) =>
    manifest.exports[name].workerd.default.replace('./', './node_modules/sealwax/');
  const url = await served(t, CONSUMER, [
    ...['worker.mjs', 'vectors.mjs', ...files].map((name) => embed('esModule', name)),
    ...FILES.map((name) => embed('json', name)),
    embed('wasm', 'node_modules/sealwax/dist/sealwax.wasm'),
    `(name = "sealwax", esModule = "export * from '${entry('.')}';")`,
    `(name = "sealwax/mcp", esModule = "export * from '.${entry('./mcp')}';")`,
  ]);
  const response = await fetch(url);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), expectedCount);
});

const outDir = `${MCP}worker`;

/** The module is the platform's to compile, under the name that it is embedded by. */
const wasm = {
  name: 'wasm-by-the-platform',
  enforce: 'pre',
  resolveId: (id) => (id.endsWith('.wasm') ? { id: './sealwax.wasm', external: true } : null),
};

for (const era of ['2026-07-28', '2025-11-25']) {
  test(`workerd serves sessions to the official client, revision ${era}`, async (t) => {
    await build({
      root: MCP,
      configFile: false,
      logLevel: 'warn',
      resolve: { conditions: ['workerd', 'module'] },
      plugins: [wasm],
      build: { outDir, lib: { entry: 'worker.mjs', formats: ['es'], fileName: 'worker' } },
    });
    copyFileSync(`${MCP}node_modules/sealwax/dist/sealwax.wasm`, `${outDir}/sealwax.wasm`);
    const modules = [embed('esModule', 'worker.js'), embed('wasm', 'sealwax.wasm')];
    const url = await served(t, outDir, modules);
    const { toldInSession } = await import(`${MCP}client.mjs`);
    assert.deepEqual(await toldInSession(url, era, 'count', 2), ['1', '2']);
  });
}
