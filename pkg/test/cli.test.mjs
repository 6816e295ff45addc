// `npx sealwax`, from the packed tarball, with every Node that the package is for.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { CONSUMER, manifest } from './consumer.mjs';

const { cases: COMMANDS } = JSON.parse(
  fs.readFileSync(new URL('../../tests/command.json', import.meta.url), 'utf8'),
);
// `make test` at the root installs the last of them alone.
const NODES = ['node_modules/node-20', 'node_modules/node-22', '../node_modules/node-24']
  .map((path) => new URL(`${path}/bin`, import.meta.url).pathname)
  .filter(fs.existsSync);

const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^SEALWAX_|^npm_command$/.test(name)),
);

/** As npm links it for `npx`: executable, by its shebang. */
function bash(script, { keys, input = '', node = NODES.at(-1) } = {}) {
  const PATH = `${CONSUMER}node_modules/.bin:${node}:${process.env.PATH}`;
  return spawnSync('bash', ['-c', `set -o pipefail\n${script}`], {
    env: { ...env, PATH, ...(keys && { SEALWAX_KEYS: keys }) },
    input,
    encoding: 'utf8',
  });
}

function said(script, options) {
  const { status, stdout, stderr } = bash(script, options);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  return stdout;
}

function refused(script, status, told) {
  const found = bash(script);
  assert.equal(found.stdout, '');
  assert.ok(found.stderr.startsWith(`sealwax: ${told}`), found.stderr);
  assert.equal(found.status, status);
}

for (const node of NODES) {
  test(`keygen makes keys, with ${node.match(/node-\d+/)}`, () => {
    const made = said('sealwax keygen --count 3 && sealwax keygen', { node }).split('\n');
    assert.equal(made.pop(), '');
    assert.equal(new Set(made).size, 4);
    for (const key of made) assert.match(key, /^swk1_[\w-]{48}$/);
    said('sealwax inspect', { node, input: made[0], keys: made.join(',') });
  });
}

/** Makes a run of tests/command.json in its folder, as `npx` does, and returns what it printed. */
function passes(run, cwd, input) {
  const program = 'npx sealwax';
  const PATH = `${NODES.at(-1)}:${process.env.PATH}`;
  const given = { ...env, ...run.env, npm_command: 'exec', PATH };
  const command = `${CONSUMER}node_modules/.bin/sealwax`;
  const found = spawnSync(command, run.args, { cwd, env: given, input, encoding: 'utf8' });
  const { status, stdout, stderr } = found;
  const said = JSON.stringify({ run, status, stdout, stderr });
  const has = (text, part) => assert.ok(text.includes(part.replaceAll('{program}', program)), said);
  assert.equal(status, run.status ?? 0, said);
  assert.equal(status === 0 ? stderr : stdout, '', said);
  if (run.stdout !== undefined) assert.equal(stdout, run.stdout, said);
  for (const part of run.has ?? []) has(stdout, part);
  for (const part of run.stderr ?? []) has(stderr, part);
  if (run.never !== undefined) assert.ok(!stderr.includes(run.never), said);
  return stdout;
}

for (const given of COMMANDS) {
  test(`a case of every package: ${given.name}`, () => {
    const folder = fs.mkdtempSync(join(tmpdir(), 'sealwax-'));
    for (const [name, text] of Object.entries(given.files ?? {})) {
      fs.writeFileSync(join(folder, name), text);
      fs.chmodSync(join(folder, name), Number.parseInt(given.modes?.[name] ?? '600', 8));
    }
    // Only the superuser may.
    const owners = process.getuid() === 0 ? Object.entries(given.owners ?? {}) : [];
    for (const [name, owner] of owners) fs.chownSync(join(folder, name), owner, owner);
    for (const [name, target] of Object.entries(given.links ?? {})) {
      fs.symlinkSync(target, join(folder, name));
    }
    const printed = [];
    for (const run of given.runs) {
      const inputs = { '@stdout': printed.at(-1), '@sealed': printed[0] };
      printed.push(passes(run, folder, inputs[run.stdin] ?? run.stdin ?? ''));
    }
    for (const [name, { mode, text, lines, has }] of Object.entries(given.after ?? {})) {
      const found = fs.readFileSync(join(folder, name), 'utf8');
      if (mode !== undefined)
        assert.equal((fs.statSync(join(folder, name)).mode & 0o777).toString(8), mode);
      if (text !== undefined) assert.equal(found, text);
      if (lines !== undefined) assert.equal(found.trimEnd().split('\n').length, lines);
      for (const part of has ?? []) assert.ok(found.includes(part), found);
    }
    for (const [name, owner] of owners) assert.equal(fs.statSync(join(folder, name)).uid, owner);
    // Nothing else is left; a store has files of its own.
    const known = Object.keys({ ...given.files, ...given.links, ...given.after });
    const left = fs.readdirSync(folder).filter((name) => !name.startsWith('ledger.db'));
    assert.deepEqual(
      left.filter((name) => !known.includes(name)),
      [],
    );
    fs.rmSync(folder, { recursive: true });
  });
}

test('every case is there', () => assert.equal(COMMANDS.length, 25));

test('input of any length is read as far as it may be', () => {
  refused('head -c 5000000 /dev/zero | sealwax inspect', 1, 'too_large: ');
});

test('who lacks the client of a store is told how to get it', () => {
  const missing = 'ledger_unavailable: no client for Redis: expected ioredis or redis\n  tip: ';
  const tip = 'npx -p sealwax -p ioredis sealwax ledger check …\n';
  refused('sealwax ledger check redis://127.0.0.1 --audience a', 2, `${missing}${tip}`);
});

test('it tells its usage and its version', () => {
  assert.match(said('sealwax --help'), /^Usage: sealwax <COMMAND>$/m);
  assert.match(said('sealwax --help'), /Exit status/);
  assert.match(said('sealwax ledger -h'), /\n {2}revoke {2}Sign a principal out/);
  assert.match(said('sealwax ledger end -h'), /--id <ID> +Its id, as in the log/);
  assert.equal(said('sealwax --version'), `sealwax ${manifest.version}\n`);
});

test('a reader that has seen enough is no failure, a full disk is one', () => {
  assert.equal(bash('sealwax inspect nonsense 2>/dev/full').status, 1);
  assert.match(said('sealwax keygen --count 5000 | head -n 1'), /^swk1_/);
  assert.equal(said('sealwax --help | true'), '');
  const { status, stderr } = bash('sealwax keygen > /dev/full');
  assert.equal(status, 2);
  assert.match(stderr, /^sealwax: ENOSPC/);
});
