import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { CONSUMER, expectedCount, INSTALLED, manifest } from './consumer.mjs';

const WORKERD = fileURLToPath(new URL('node_modules/.bin/workerd', import.meta.url));

test('workerd passes every vector', async () => {
  writeFileSync(`${CONSUMER}worker.capnp`, config());
  const worker = spawn(WORKERD, ['serve', 'worker.capnp', '--control-fd=3'], {
    cwd: CONSUMER,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  try {
    const [line] = await new Promise((told) =>
      createInterface({ input: worker.stdio[3] }).once('line', (...line) => told(line)),
    );
    const response = await fetch(`http://127.0.0.1:${JSON.parse(line).port}/`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), expectedCount);
  } finally {
    worker.kill();
  }
});

/** The files as they are installed; a bundler would follow the `workerd` condition to them. */
function config() {
  const dist = readdirSync(`${INSTALLED}dist/esm`, { recursive: true }).filter((file) =>
    file.endsWith('.js'),
  );
  const files = dist.map((file) => `node_modules/sealwax/dist/esm/${file}`);
  const entry = (name) =>
    manifest.exports[name].workerd.default.replace('./', './node_modules/sealwax/');
  const embed = (kind, name) => `(name = "${name}", ${kind} = embed "${name}")`;
  const modules = [
    ...['worker.mjs', 'guard-of.mjs', 'vectors.mjs', ...files].map((name) =>
      embed('esModule', name),
    ),
    ...['vectors/v1.json', 'vectors/more.json'].map((name) => embed('json', name)),
    embed('wasm', 'node_modules/sealwax/dist/sealwax.wasm'),
    `(name = "sealwax", esModule = "export * from '${entry('.')}';")`,
    `(name = "sealwax/mcp", esModule = "export * from '.${entry('./mcp')}';")`,
  ];
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [
    ${modules.join(',\n    ')},
  ],
  compatibilityDate = "2025-10-01",
);
`;
}
