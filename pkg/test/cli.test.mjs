// `npx sealwax`, from the packed tarball, with every Node that the package is for.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';

import { CONSUMER, manifest } from './consumer.mjs';

const CASES = JSON.parse(
  readFileSync(new URL('../../tests/inspect.json', import.meta.url), 'utf8'),
);
// `make test` at the root installs the last of them alone.
const NODES = ['node_modules/node-20', 'node_modules/node-22', '../node_modules/node-24']
  .map((path) => new URL(`${path}/bin`, import.meta.url).pathname)
  .filter(existsSync);

/** As npm links it for `npx`: executable, by its shebang. */
function bash(script, { keys, input = '', node = NODES.at(-1) } = {}) {
  const path = `${CONSUMER}node_modules/.bin:${node}:${process.env.PATH}`;
  const { SEALWAX_KEYS: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', `set -o pipefail\n${script}`], {
    env: { ...env, PATH: path, ...(keys !== null && keys !== undefined && { SEALWAX_KEYS: keys }) },
    input,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

function said(script, options) {
  const { status, stdout, stderr } = bash(script, options);
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  return stdout;
}

function refused(script, status, told, options) {
  const found = bash(script, options);
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

test('npx finds it', () => {
  const { status, stdout } = spawnSync('npx', ['--no', 'sealwax', 'keygen'], {
    cwd: CONSUMER,
    encoding: 'utf8',
  });
  assert.equal(status, 0);
  assert.match(stdout, /^swk1_[\w-]{48}\n$/);
});

test('inspect says what a text is, in the words of every package', () => {
  assert.equal(CASES.said.length, 18);
  for (const { text, keys, now, words, json } of CASES.said) {
    const script = `sealwax inspect --now ${now} && sealwax inspect --json ${text}`;
    const lines = said(script, { keys, input: `${text}\n` })
      .trimEnd()
      .split('\n');
    assert.deepEqual(JSON.parse(lines.pop()), json);
    assert.deepEqual(lines, words);
  }
});

test('inspect says what is none of ours, by code and status', () => {
  assert.equal(CASES.refused.length, 8);
  for (const { text, status, code } of CASES.refused) {
    refused('sealwax inspect', status, `${code}: `, { input: text });
  }
  refused('sealwax inspect', 1, 'malformed: ', { input: `${CASES.said[0].text}\n\n` });
  refused('head -c 5000000 /dev/zero | sealwax inspect', 1, 'too_large: ');
});

test('keys come from SEALWAX_KEYS or a file', () => {
  const [, { text }] = CASES.said;
  const file = `${CONSUMER}keys.txt`;
  const [key] = said('sealwax keygen').split('\n');
  writeFileSync(file, `${key}\n`);
  const inRing = (script, options) => JSON.parse(said(`${script} --json ${text}`, options)).in_ring;
  assert.equal(inRing('sealwax inspect'), null);
  assert.equal(inRing('sealwax inspect', { keys: key }), false);
  assert.equal(inRing(`sealwax inspect --key-file ${file}`), false);
  refused(`sealwax inspect ${text}`, 2, 'invalid_key: SEALWAX_KEYS: key 1 of the', { keys: 'x' });
  writeFileSync(file, 'nonsense');
  refused(
    `sealwax inspect --key-file ${file} ${text}`,
    2,
    `invalid_key: --key-file ${file}: key 1`,
  );
  refused(`sealwax inspect --key-file /no/such/file ${text}`, 2, 'ENOENT');
});

test('wrong usage is told by its flag, with status 2', () => {
  refused('sealwax', 2, 'expected keygen or inspect, found no command\n  tip: ');
  refused('sealwax seal', 2, 'expected keygen or inspect, found seal');
  refused('sealwax keygen --count 0', 2, '--count: expected a number of 1 to 65535, found 0');
  refused('sealwax keygen --count x', 2, '--count: ');
  refused('sealwax keygen x', 2, 'unexpected argument "x"');
  refused('sealwax keygen --json', 2, "Unknown option '--json'");
  refused('sealwax inspect --now soon x', 2, '--now: ');
  refused('sealwax inspect a b', 2, 'unexpected argument "b"');
  assert.equal(bash('sealwax inspect nonsense 2>/dev/full').status, 1);
});

test('it tells its usage and its version', () => {
  assert.match(said('sealwax --help'), /Usage: sealwax keygen/);
  assert.match(said('sealwax inspect -h'), /Exit status/);
  assert.equal(said('sealwax --version'), `sealwax ${manifest.version}\n`);
});

test('a reader that has seen enough is no failure, a full disk is one', () => {
  assert.match(said('sealwax keygen --count 5000 | head -n 1'), /^swk1_/);
  assert.equal(said('sealwax --help | true'), '');
  const { status, stderr } = bash('sealwax keygen > /dev/full');
  assert.equal(status, 2);
  assert.match(stderr, /^sealwax: ENOSPC/);
});
