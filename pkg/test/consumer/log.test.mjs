// A log that nobody reads any more.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

// Each change of the file is a line on stderr.
const PROGRAM = `
  import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { setTimeout as pass } from 'node:timers/promises';
  import { Codec, inspect, Key } from 'sealwax';

  const folder = mkdtempSync(join(tmpdir(), 'sealwax-log-'));
  const keysFile = join(folder, 'keys');
  const write = (key) => {
    writeFileSync(keysFile + '.new', key.toText());
    renameSync(keysFile + '.new', keysFile);
  };
  write(Key.generate());
  const codec = new Codec({ keysFile, keysInterval: 0.01, audience: 'a' });
  await new Promise((closed) => process.stdin.once('data', closed));
  for (let changes = 0; changes < 4; changes++) {
    const key = Key.generate();
    write(key);
    const sealing = () => inspect(codec.view({ subject: 'alice' }).session().seal(new Uint8Array())).keyId;
    while (sealing() !== key.id) await pass(5);
  }
  rmSync(folder, { recursive: true });
  console.log('alive');
  process.exit();
`;

test('a closed stderr ends no program', async () => {
  const program = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM]);
  program.stderr.destroy();
  program.stdin.write('closed');
  let said = '';
  program.stdout.on('data', (text) => {
    said += text;
  });
  const [status] = await once(program, 'close');
  assert.deepEqual([status, said], [0, 'alive\n']);
});
