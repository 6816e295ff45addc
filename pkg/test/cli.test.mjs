// `npx sealwax`, from the packed tarball, with every Node that the package is for. The cases of every package are in
// tests/command.json: `make test-command`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';

import { CONSUMER, manifest } from './consumer.mjs';

// `make test` at the root installs the last of them alone.
const NODES = ['node_modules/node-20', 'node_modules/node-22', '../node_modules/node-24']
  .map((path) => new URL(`${path}/bin`, import.meta.url).pathname)
  .filter(existsSync);

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
