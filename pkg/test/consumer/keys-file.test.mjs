// Keys that change while a codec is in use: set, or in a file that it follows.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';

import { Codec, Key, KeyRing } from 'sealwax';
import { Guard } from 'sealwax/mcp';
import { payload, refused } from './api.mjs';

const audience = 'https://mcp.example.com';
const [a, b] = [Key.generate(), Key.generate()];
const textOf = (...keys) => keys.map((key) => key.toText()).join('\n');
const sealing = (codec) => codec.view({ subject: 'alice' }).session();

/** A file of one key, and its folder's end with the test. */
function fileOf(t) {
  const folder = mkdtempSync(join(tmpdir(), 'sealwax-keys-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'keys');
  writeFileSync(path, textOf(a));
  return path;
}

/** A codec that follows a new file, what it has told, and what it tells next: a watch keeps no process alive, so this does. */
function following(t) {
  const path = fileOf(t);
  const told = [];
  const info = (line, fields) => told.push({ line, ...fields });
  const logger = { info, warn: info };
  const make = () => new Codec({ keysFile: path, keysInterval: 0.01, logger, audience });
  const next = async () => {
    while (told.length === 0) await pass(2);
    return told.shift();
  };
  return { path, told, next, make };
}

function replace(path, text) {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

test('keys that are set are those of new views, and old views keep theirs', () => {
  const codec = new Codec({ keys: textOf(a), audience });
  const before = sealing(codec);
  const token = before.seal(payload);
  assert.deepEqual([codec.setKeys(textOf(a)), codec.setKeys(new KeyRing([b]))], [false, true]);
  before.open(token);
  refused('invalid_key', () => codec.setKeys('swk1_short'));
  assert.throws(() => codec.setKeys(7), TypeError);
  refused('unknown_key', () => sealing(codec).open(token));
  codec.free();
  refused('invalid_argument', () => codec.setKeys(textOf(a)));
});

test('a codec follows its file, and keeps its keys while the file is bad', async (t) => {
  const { path, told, next, make } = following(t);
  const codec = make();
  const token = sealing(codec).seal(payload);
  replace(path, textOf(b, a));
  const { time, ...changed } = await next();
  assert.equal(new Date(time).toISOString(), time);
  const message = `keys file ${path}: ${b.id} seals, ${b.id} ${a.id} open`;
  const line = `sealwax: keys_changed message=${JSON.stringify(message)}`;
  assert.deepEqual(changed, { line, level: 'info', code: 'keys_changed', message });
  assert.equal(sealing(codec).open(token).needsReseal, true);

  const half = textOf(a, b).slice(0, 80);
  for (const [bad, said] of [
    [half, /key 2 of the ring: expected a key text/],
    [undefined, /ENOENT/],
  ]) {
    if (bad === undefined) rmSync(path);
    else replace(path, bad);
    const { code, level, message } = await next();
    assert.deepEqual([code, level], ['invalid_key', 'warn']);
    assert.match(message, said);
    assert.ok(message.startsWith(`keys file ${path}: `) && !message.includes(half.slice(5, 30)));
    assert.ok(message.endsWith('; the present keys stay in use'));
    assert.equal(sealing(codec).open(token).needsReseal, true);
    // It is read again, and said once.
    await pass(50);
    assert.deepEqual(told, []);
  }
  replace(path, textOf(b));
  assert.match((await next()).message, new RegExp(`${b.id} seals, ${b.id} open$`));
  refused('unknown_key', () => sealing(codec).open(token));

  codec.free();
  replace(path, textOf(a));
  await pass(50);
  assert.deepEqual(told, []);
});

test('a codec that nobody has is collected, and its file is followed no more', async (t) => {
  const { path, told, make } = following(t);
  let codec = make();
  const gone = new WeakRef(codec);
  codec = undefined;
  while (gone.deref() !== undefined) {
    await pass(5);
    globalThis.gc();
  }
  replace(path, textOf(b));
  await pass(50);
  assert.deepEqual(told, []);
});

test('what a guard made holds its codec, whose file it follows', async (t) => {
  const { path, next, make } = following(t);
  const handler = (() =>
    new Guard({ codec: make(), principal: 'anonymous' }).fetch(() => new Response('done')))();
  for (let i = 0; i < 20; i++) {
    await pass(5);
    globalThis.gc();
  }
  replace(path, textOf(b));
  assert.equal((await next()).code, 'keys_changed');
  assert.equal((await handler(new Request(audience, { method: 'PUT' }))).status, 200);
});

/** A program that changes the file which its codec follows, until that has the log say so; its stderr may be closed. */
const PROGRAM = `
  import { renameSync, writeFileSync } from 'node:fs';
  import { setTimeout as pass } from 'node:timers/promises';
  import { Codec, inspect, Key } from 'sealwax';
  const codec = Codec.fromEnv({ audience: '${audience}', keysInterval: 0.01 });
  const file = process.env.SEALWAX_KEYS_FILE;
  for (let changes = 0; changes < 4; changes++) {
    const key = Key.generate();
    writeFileSync(file + '.new', key.toText());
    renameSync(file + '.new', file);
    const sealed = () => codec.view({ subject: 'alice' }).session().seal(new Uint8Array());
    while (inspect(sealed()).keyId !== key.id) await pass(5);
  }
  console.log('alive');`;

for (const isClosed of [false, true]) {
  test(`it ends with its process, ${isClosed ? 'whose stderr nobody reads' : 'and says on stderr what happens'}`, async (t) => {
    const env = { ...process.env, SEALWAX_KEYS_FILE: fileOf(t) };
    const args = ['--input-type=module', '--eval', PROGRAM];
    const program = spawn(process.execPath, args, { env, cwd: import.meta.dirname });
    if (isClosed) program.stderr.destroy();
    // Of a stream that is closed there is no text.
    const said = ['stdout', 'stderr'].map((name) => text(program[name]).catch(() => ''));
    const [status] = await once(program, 'close');
    const [stdout, stderr] = await Promise.all(said);
    assert.deepEqual([status, stdout], [0, 'alive\n'], stderr);
    const line = /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO sealwax: keys_changed message="keys file .*"\n/;
    if (!isClosed) assert.match(stderr, line);
  });
}

test('options of a file are checked', (t) => {
  const path = fileOf(t);
  const given = (more) => () => new Codec({ audience, keysFile: path, ...more });
  refused('invalid_argument', given({ keys: textOf(a) }));
  refused('invalid_argument', given({ keysInterval: 0 }));
  for (const wrong of [{ keysInterval: '5' }, { logger: {} }, { keysFile: 7 }])
    assert.throws(given(wrong), TypeError);
  // A runtime without files, such as a browser.
  const { getBuiltinModule } = process;
  t.after(() => Object.assign(process, { getBuiltinModule }));
  process.getBuiltinModule = undefined;
  assert.throws(given({}), { code: 'invalid_argument', message: /Node 20\.16 or later/ });
});
