/** A file of keys, where the runtime has files; and its watch. */

import { invalidArgument } from './error.js';
import { type KeyRing, ringOfFile, ringOfVariables } from './key.js';
import { type Logger, write } from './log.js';

/** What a runtime has of Node. */
interface Builtins {
  'node:fs': {
    readFileSync(path: string): Uint8Array;
    readonly promises: { readFile(path: string): Promise<Uint8Array> };
  };
  'node:timers': { setTimeout(run: () => void, ms: number): { unref(): void } };
}

interface Process {
  readonly env?: Readonly<Record<string, string | undefined>>;
  getBuiltinModule?<M extends keyof Builtins>(name: M): Builtins[M] | undefined;
}

function host(): Process {
  return (globalThis as { process?: Process }).process ?? {};
}

/** Not by `import`: a bundle for browsers has no such modules. */
function builtin<M extends keyof Builtins>(name: M): Builtins[M] {
  const found = host().getBuiltinModule?.(name);
  if (found !== undefined) return found;
  throw invalidArgument(
    'keysFile: expected Node 20.16 or later, Bun or Deno, found a runtime without files: give the codec its ' +
      'keys, and later ones by setKeys',
  );
}

const VARIABLES = [
  'SEALWAX_KEYS',
  'SEALWAX_KEYS_FILE',
  'SEALWAX_SECRET',
  'SEALWAX_SECRET_FALLBACKS',
];

/** Returns where the environment says that the keys are. */
export function keysOfEnvironment(): { keys: KeyRing } | { keysFile: string } {
  const env = host().env ?? {};
  const keys = ringOfVariables(VARIABLES.map((name) => `${name}=${env[name] ?? ''}\0`).join(''));
  return keys ? { keys } : { keysFile: env.SEALWAX_KEYS_FILE as string };
}

/** Reads a ring; an error names the file. The caller frees it. */
export function readRing(path: string): KeyRing {
  const fs = builtin('node:fs');
  let found: Uint8Array | Error;
  try {
    found = fs.readFileSync(path);
  } catch (error) {
    found = error as Error;
  }
  return ringOfFile(path, found);
}

/**
 * Reads a file again every so many seconds, and gives its keys to a codec that had them before. It keeps neither the
 * codec nor the process alive. Returns what ends it.
 */
export function follow(
  codec: { setKeys(ring: KeyRing): boolean },
  path: string,
  seconds: number,
  logger: Logger,
): () => void {
  const [fs, timers] = [builtin('node:fs'), builtin('node:timers')];
  const held = new WeakRef(codec);
  let isOver = false;
  let fault: string | undefined;
  const read = async () => {
    const found = await fs.promises.readFile(path).catch((error: Error) => error);
    const codec = held.deref();
    if (isOver || codec === undefined) return;
    const before = fault;
    fault = undefined;
    try {
      const ring = ringOfFile(path, found);
      const { ids } = ring;
      const isNew = codec.setKeys(ring);
      ring.free();
      if (isNew || before !== undefined) {
        log(
          logger,
          'info',
          'keys_changed',
          `keys file ${path}: ${ids[0]} seals, ${ids.join(' ')} open`,
        );
      }
    } catch (error) {
      fault = (error as Error).message;
      if (fault !== before)
        log(logger, 'warn', 'invalid_key', `${fault}; the present keys stay in use`);
    }
    later();
  };
  const later = () => timers.setTimeout(read, 1000 * seconds).unref();
  later();
  return () => {
    isOver = true;
  };
}

function log(logger: Logger, level: 'info' | 'warn', code: string, message: string): void {
  const fields = { time: new Date().toISOString(), level, code, message };
  write(logger, `sealwax: ${code} message=${JSON.stringify(message)}`, fields);
}
