#!/usr/bin/env node
/// <reference types="node" />

/**
 * `npx sealwax`: the command of every package. What it does is in the module, from `cli/` of the repository; here are
 * arguments, input and output.
 */

import { readFileSync } from 'node:fs';
import process from 'node:process';

import { type Given, given, helpOf, Usage } from './cli/arguments.js';
import { type Answer, type Ask, failed } from './cli/documents.js';
import { read, replace } from './cli/files.js';
import { Stores } from './cli/stores.js';
import { initSync, Run } from './command.js';
import { checkNode } from './module.js';

/** Longer input is cut here, and refused for its length by what reads it. */
const MAX_INPUT = 4 << 20;

const VARIABLES = [
  'SEALWAX_KEYS',
  'SEALWAX_KEYS_FILE',
  'SEALWAX_SECRET',
  'SEALWAX_SECRET_FALLBACKS',
  'SEALWAX_LEDGER',
];

/** As npm calls it, or as a shell does. */
const PROGRAM = process.env.npm_command === 'exec' ? 'npx sealwax' : 'sealwax';

/** Returns the output, so that nothing is printed unless everything succeeded. */
async function output(args: readonly string[]): Promise<string | Buffer> {
  const spec = JSON.parse(readFileSync(new URL('../commands.json', import.meta.url), 'utf8'));
  const asked = given(spec, args);
  if (asked.version) return `sealwax ${version()}\n`;
  if (asked.help) return helpOf(spec, asked, PROGRAM);
  initSync({ module: readFileSync(new URL('../command.wasm', import.meta.url)) });
  const stores = new Stores(`${PROGRAM} ${asked.words.join(' ')}`);
  try {
    return await run(asked, stores);
  } finally {
    stores.close();
  }
}

async function run({ words, options }: Given, stores: Stores): Promise<Buffer> {
  const environment = Object.fromEntries(
    VARIABLES.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const command = words.join(' ');
  const asked = { program: PROGRAM, command, options, environment, now: Date.now() };
  const running = new Run(JSON.stringify(asked));
  for (;;) {
    const step: Ask = JSON.parse(running.step());
    if ('stderr' in step) throw new Failure(step.stderr, step.status);
    if ('stdout' in step) {
      if (step.write) replace(step.write.path, step.write.text);
      if (step.wait > 0) await new Promise((resolve) => setTimeout(resolve, step.wait * 1000));
      return Buffer.from(step.stdout, 'base64');
    }
    running.answer(JSON.stringify(await answer(step, stores)));
  }
}

async function answer(step: Ask, stores: Stores): Promise<Answer> {
  if ('stdin' in step) return stdin(step.stdin);
  if ('file' in step) return read(step.file, step.replaced);
  if ('redis' in step) return stores.redis(step.redis, step.send);
  if ('query' in step) return stores.query(step.sqlite, step.query, step.parameters);
  if ('run' in step) return stores.run(step.sqlite, step.run);
  throw new Error('expected another step');
}

/** Reads stdin to the byte; on a terminal, says what to type. */
async function stdin(what: string): Promise<Answer> {
  if (process.stdin.isTTY) process.stderr.write(`sealwax: type ${what}, then Ctrl-D\n`);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= MAX_INPUT) break;
    }
  } catch (error) {
    return failed(error);
  }
  return { bytes: Buffer.concat(chunks).subarray(0, MAX_INPUT).toString('base64') };
}

class Failure extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

function version(): string {
  const manifest = new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

function fail(error: unknown): void {
  if (error instanceof Failure) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = error.status;
    return;
  }
  const usage = error instanceof Usage ? error.words : undefined;
  const tip = usage && `\n  tip: see ${[PROGRAM, ...usage].join(' ')} --help`;
  process.stderr.write(`sealwax: ${(error as Error).message}${tip ?? ''}\n`);
  process.exitCode = 2;
}

// A reader that closes the pipe early, such as `head`, is no failure. If stderr is closed, the exit status still tells.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') fail(error);
});
process.stderr.on('error', () => {});

try {
  checkNode();
  process.stdout.write(await output(process.argv.slice(2)));
} catch (error) {
  fail(error);
}
