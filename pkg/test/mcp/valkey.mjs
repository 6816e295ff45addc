// A real Valkey: VALKEY_SERVER is its program, which `make test` has from PyPI.

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

/** A server on a port of its own, in a folder of its own; `options` are those of its configuration. */
export async function valkey(options = {}) {
  const program = process.env.VALKEY_SERVER;
  if (!program) throw new Error('VALKEY_SERVER: expected the path of valkey-server');
  const folder = mkdtempSync(join(tmpdir(), 'valkey-'));
  const port = options.port ?? (await freePort());
  const given = { save: '', dir: folder, bind: '127.0.0.1', ...options, port };
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const started = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  await new Promise((ready, failed) => {
    started.stdout.on('data', (chunk) => {
      printed += chunk;
      if (printed.includes('Ready to accept connections')) ready();
    });
    started.once('exit', () => failed(new Error(printed)));
    started.once('error', failed);
  });
  const credentials = options.requirepass ? `:${options.requirepass}@` : '';
  const url = `redis://${credentials}127.0.0.1:${port}`;
  const admin = new Redis(url, { maxRetriesPerRequest: 1 });
  admin.on('error', () => {});
  return {
    ...{ port, url, admin },
    /** It answers nobody, and its connections stay. */
    pause: () => started.kill('SIGSTOP'),
    resume: () => started.kill('SIGCONT'),
    async close() {
      admin.disconnect();
      if (started.exitCode === null && started.signalCode === null) {
        started.kill('SIGKILL');
        await once(started, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A port below those that the system gives to clients, so that nobody gets it while its server is down. */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    const taken = createServer().listen(port, '127.0.0.1');
    try {
      await once(taken, 'listening');
    } catch {
      continue;
    }
    taken.close();
    await once(taken, 'close');
    return port;
  }
}
