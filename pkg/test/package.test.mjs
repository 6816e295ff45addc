import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { CONSUMER, INSTALLED, manifest, OLDEST } from './consumer.mjs';

// Each source file, compiled in both systems; the command and the entry for Workers as ESM only.
const ALL = readdirSync(new URL('../src', import.meta.url), { recursive: true })
  .filter((path) => /(?<!\.d)\.ts$/.test(path))
  .map((path) => path.slice(0, -'.ts'.length));
const ESM = ALL.filter((name) => /^(cli|workerd)\b/.test(name));
const MODULES = ALL.filter((name) => !ESM.includes(name));
const GENERATED = ['embedded.js', 'raw.js'];

test('the tarball holds what it should and nothing else', () => {
  const compiled = MODULES.flatMap((name) => [`${name}.d.ts`, `${name}.js`]);
  const cjs = [...compiled, ...GENERATED, 'package.json'];
  const esm = [...compiled, ...GENERATED, 'command.js'];
  for (const name of ESM) esm.push(`${name}.d.ts`, `${name}.js`);
  const expected = [
    ...['LICENSE-APACHE', 'LICENSE-MIT', 'THIRD-PARTY-NOTICES', 'README.md', 'package.json'],
    ...['dist/sealwax.wasm', 'dist/command.wasm', 'dist/commands.json'],
    ...cjs.map((file) => `dist/cjs/${file}`),
    ...esm.map((file) => `dist/esm/${file}`),
  ];
  const found = readdirSync(INSTALLED, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath ?? entry.path}/${entry.name}`.slice(INSTALLED.length))
    .map((path) => path.replace(/^\//, ''));
  assert.deepEqual(found.sort(), expected.sort());
});

test('the notices name every crate of the module', () => {
  const command =
    'tree --edges normal --prefix none --package sealwax-wasm --package sealwax-wasm-command --target wasm32-unknown-unknown';
  const tree = execFileSync('cargo', [...command.split(' '), '--format', '{p}'], {
    encoding: 'utf8',
  });
  const notices = readFileSync(`${INSTALLED}THIRD-PARTY-NOTICES`, 'utf8');
  const crates = tree.split('\n').filter((crate) => crate && !crate.includes('(/'));
  assert.ok(crates.length > 20);
  for (const crate of crates) {
    const [name, version] = crate.split(' ');
    assert.ok(notices.includes(`${name} ${version.slice(1)}:`), crate);
  }
});

test('it depends on nothing at run time', () => {
  assert.equal(manifest.dependencies, undefined);
  const peers = Object.keys(manifest.peerDependencies).map((name) => [name, { optional: true }]);
  assert.deepEqual(manifest.peerDependenciesMeta, Object.fromEntries(peers));
  assert.deepEqual(
    readdirSync(`${CONSUMER}node_modules`).filter((name) => !/^\./.test(name)),
    ['sealwax'],
  );
});

test('the peers that the tests have are the least that are allowed', () => {
  const tested = (name) =>
    JSON.parse(readFileSync(`${OLDEST}node_modules/${name}/package.json`, 'utf8')).version;
  for (const [name, range] of Object.entries(manifest.peerDependencies)) {
    assert.equal(range, `^${tested(name)}`, name);
  }
});

test('Node 18 is told that it is too old', () => {
  const old = new URL('node_modules/old-node/bin/node', import.meta.url).pathname;
  const told = (...args) => {
    const { status, stderr } = spawnSync(old, args, { cwd: CONSUMER, encoding: 'utf8' });
    assert.notEqual(status, 0);
    return stderr;
  };
  const expected = /sealwax needs Node 20 or later, found 18\.20\.8/;
  assert.match(told('--input-type=module', '--eval', "import 'sealwax'"), expected);
  assert.match(told('--eval', "require('sealwax')"), expected);
  assert.match(told(`${INSTALLED}dist/esm/cli.js`, 'keygen'), expected);
});

/** What connects a client: it imports that then, and the client's types. */
const TESTING = /\/testing\.(js|d\.ts)$/;

test('only sealwax/otel imports a peer, at run time or for its types, and sealwax/mcp starts no module', () => {
  const files = readdirSync(`${INSTALLED}dist`, { recursive: true });
  for (const file of files.filter((name) => /\.(js|d\.ts)$/.test(name) && !TESTING.test(name))) {
    const source = readFileSync(`${INSTALLED}dist/${file}`, 'utf8');
    // Not in a comment, where examples do.
    const imported = /^(?! *\*).*(from|import\(?|require\() ?["']@/m.test(source);
    assert.equal(imported, /^(cjs|esm).otel\./.test(file), file);
    if (!file.includes('mcp/')) continue;
    assert.doesNotMatch(source, /["']\.\.\/(index|slim|workerd|embedded)\.js["']/, file);
  }
});

test('the module is within its budget', (t) => {
  const module = readFileSync(`${INSTALLED}dist/sealwax.wasm`);
  const compressed = gzipSync(module, { level: 9 }).length;
  t.diagnostic(`${module.length} bytes, ${compressed} compressed`);
  assert.ok(module.length < 473_000, `${module.length} bytes`);
  assert.ok(compressed < 214_000, `${compressed} bytes compressed`);
  // Of the command, which is no part of any bundle.
  const command = readFileSync(`${INSTALLED}dist/command.wasm`).length;
  t.diagnostic(`${command} bytes of the command`);
  assert.ok(command < 307_000, `${command} bytes`);
});

test('the declarations name every code of the core', () => {
  const core = readFileSync(new URL('../../src/error.rs', import.meta.url), 'utf8');
  const declared = readFileSync(`${INSTALLED}dist/esm/error.d.ts`, 'utf8');
  const [union] = declared.match(/type SealwaxErrorCode =[^;]+;/);
  const codes = [...core.matchAll(/Self::\w+.* => "(\w+)"/g)].map(([, code]) => code);
  // Where the module ended, the core is no longer asked.
  const ended = 'internal_error';
  assert.deepEqual(
    [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code).filter((code) => code !== ended),
    codes,
  );
  assert.ok(union.includes(`'${ended}'`));
});
