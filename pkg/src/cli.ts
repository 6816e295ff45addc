#!/usr/bin/env node
/// <reference types="node" />

/**
 * `npx sealwax`: generates keys and inspects texts. Output, options and exit status are those of the Rust crate's
 * `sealwax` command, which has more commands; tests/inspect.json holds the output of both.
 */

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';

import { Key, SealwaxError } from './index.js';
import { core } from './module.js';
import type * as raw from './raw.js';

const HELP = `Sealed, signed session tokens for MCP servers: makes keys, inspects.

Usage: sealwax keygen [--count N]
       sealwax inspect [--json] [--key-file FILE] [--now UNIX] [TEXT]

keygen   Make keys, one a line: secrets to keep in SEALWAX_KEYS
         --count N        The number of keys: 1 to 65535
inspect  Identify a token, session id, handle or key text, without opening it
         TEXT             The text, in place of stdin: every process of the machine can read it, so pass a
                          live token or a key on stdin
         --json           Print JSON: what (token, session-id, handle or key), length, and if there is exactly
                          one kind, key_id, token_id, handle_type, created_at_ms; in_ring is null without keys
         --key-file FILE  File of key texts, in place of SEALWAX_KEYS
         --now UNIX       The time in Unix seconds, in place of the clock's

-h, --help     Print help
-V, --version  Print version

Exit status: 0 for success; 1 when the text is none of ours; 2 for any other failure: wrong usage, keys or
arguments, a file that cannot be read.
`;

const OPTIONS = {
  keygen: { count: { type: 'string' } },
  inspect: {
    json: { type: 'boolean' },
    'key-file': { type: 'string' },
    now: { type: 'string' },
  },
} as const;
const COMMON = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const;

/** Longer input is cut here; `inspect` then refuses it as too large. */
const MAX_INPUT = 4 << 20;

class Usage extends Error {}

async function run(given: readonly string[]): Promise<string> {
  const [name, ...rest] = given;
  const command = name === 'keygen' || name === 'inspect' ? name : undefined;
  const { values, positionals } = parseArgs({
    args: command ? rest : [...given],
    options: { ...COMMON, ...(command && OPTIONS[command]) },
    allowPositionals: true,
  }) as {
    values: Partial<Record<'count' | 'key-file' | 'now', string>> &
      Partial<Record<'help' | 'json' | 'version', boolean>>;
    positionals: string[];
  };
  if (values.help) return HELP;
  if (values.version) return `sealwax ${version()}\n`;
  if (!command) throw new Usage(`expected keygen or inspect, found ${name ?? 'no command'}`);
  const extra = positionals[command === 'inspect' ? 1 : 0];
  if (extra !== undefined) throw new Usage(`unexpected argument ${JSON.stringify(extra)}`);

  if (command === 'keygen') {
    const count = number('--count', values.count ?? '1', 1, 65535);
    return Array.from({ length: count }, () => `${Key.generate().toText()}\n`).join('');
  }
  const now = number('--now', values.now ?? String(Math.floor(Date.now() / 1000)), 0, 2 ** 53 - 1);
  const ring = ringOf(values['key-file']);
  const text = positionals[0] ?? (await stdinText());
  return `${values.json ? core().reportJson(text, ring) : core().reportWords(text, ring, now)}\n`;
}

function ringOf(file: string | undefined): raw.KeyRing | undefined {
  const text = file === undefined ? process.env.SEALWAX_KEYS : readFileSync(file, 'utf8');
  if (text === undefined) return undefined;
  try {
    return core().KeyRing.parse(text);
  } catch (error) {
    const place = file === undefined ? 'SEALWAX_KEYS' : `--key-file ${file}`;
    if (error instanceof SealwaxError) error.message = `${place}: ${error.message}`;
    throw error;
  }
}

function number(flag: string, text: string, least: number, most: number): number {
  const found = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  if (found < least || found > most) {
    throw new Usage(`${flag}: expected a number of ${least} to ${most}, found ${text}`);
  }
  return found;
}

/** Reads stdin and removes one final line ending, which the shell adds. */
async function stdinText(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('sealwax: type the text to inspect, then Ctrl-D\n');
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= MAX_INPUT) break;
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function version(): string {
  const manifest = new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

function fail(error: unknown): void {
  if (error instanceof SealwaxError) {
    process.stderr.write(`sealwax: ${error.code}: ${error.message}\n`);
    process.exitCode = error.isRefusal ? 1 : 2;
    return;
  }
  const { code, message } = error as { code?: string; message: string };
  const usage = error instanceof Usage || code?.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`sealwax: ${message}\n${usage ? '  tip: see sealwax --help\n' : ''}`);
  process.exitCode = 2;
}

// A reader that closes the pipe early, such as `head`, is no failure. If stderr is closed, the exit status still tells.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') fail(error);
});
process.stderr.on('error', () => {});

try {
  process.stdout.write(await run(process.argv.slice(2)));
} catch (error) {
  fail(error);
}
