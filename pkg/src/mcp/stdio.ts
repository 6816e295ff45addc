/// <reference types="node" />

/** SEP-1359 over stdio. Only for Node, so it is a separate entry point. */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { Duplex, Readable, type Writable } from 'node:stream';

import { checked } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { nameOf } from './cause.js';
import { type Guard, policyOf } from './guard.js';
import { reportError } from './hooks.js';
import { type Read, StdioConnection } from './transport/stdio.js';

/** The longest line, in bytes, that the SDK's own transport accepts. */
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Returns streams for the SDK's `StdioServerTransport` that carry the sessions of SEP-1359: `sessionId` and
 * `sessionTimeout` in the response to `initialize`, `sessionId` in messages in both directions if the client
 * sends one, and `session/terminate` if the guard has a `ledger` to record that.
 *
 * A session survives a restart of the process: a request with a valid `sessionId` is served without a new
 * `initialize`. The negotiated values are read from the token and replayed to the SDK; the response is
 * discarded. Other state of the process is lost.
 *
 * @param given `ttl`: the lifetime of a session in seconds, 30 days by default; `idle`: how many seconds it may
 * be idle, which needs a `ledger`
 *
 * @example
 * ```js
 * import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
 * import { serveStdio } from '@modelcontextprotocol/server/stdio';
 * import { sessionStreams } from 'sealwax/mcp/stdio';
 *
 * function serve(guard, factory) {
 *   const transport = new StdioServerTransport(...sessionStreams(guard));
 *   return serveStdio(factory, { transport });
 * }
 * console.log(typeof serve); // function
 * ```
 */
export function sessionStreams(
  guard: Guard,
  given: {
    readonly stdin?: Readable | undefined;
    readonly stdout?: Writable | undefined;
    readonly ttl?: number | undefined;
    readonly idle?: number | undefined;
  } = {},
): [Readable, Writable] {
  const { stdin = process.stdin, stdout = process.stdout, ...times } = given;
  const policy = policyOf(guard);
  const settings = checked(times, { ttl: checkTtl, idle: checkTtl });
  const engine = policy.transportOf({ ...settings, sep1359: true });
  const send = (line: string) => void stdout.write(`${line}\n`);
  const connection = new StdioConnection(policy, engine, send, readOf());
  const inward = async function* () {
    for await (const line of lines(stdin, MAX_BYTES)) {
      for await (const next of connection.enter(line)) yield Buffer.from(`${next}\n`);
    }
  };
  const outward = Duplex.from(async (source: AsyncIterable<Buffer | string>) => {
    try {
      for await (const line of lines(source)) await connection.leave(`${line}`);
    } finally {
      connection.close();
    }
  });
  // The SDK hears of it by the stream that it has, if it listens: 1.x does not.
  stdout.on('error', (error) => {
    reportError(policy, `stdout: expected a client that reads, found ${nameOf(error)}`, error);
    outward.destroy(error);
  });
  outward.on('error', () => {});
  return [Readable.from(inward()), outward];
}

/** Where the majors of the SDK have what reads a line. */
const READERS = ['@modelcontextprotocol/server', '@modelcontextprotocol/sdk/shared/stdio.js'];

/** Returns what the SDK reads a line with; in a bundle, where neither is found, nothing checks a line before the SDK. */
async function readOf(): Promise<Read> {
  for (const name of READERS) {
    const { deserializeMessage } = await import(name).catch(() => ({}));
    if (deserializeMessage) return deserializeMessage;
  }
  return () => {};
}

/** Yields a stream's lines, without their ends. */
async function* lines(
  source: AsyncIterable<Buffer | string>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of source) {
    let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield Buffer.concat([...parts, rest.subarray(0, end)]);
      [parts, size] = [[], 0];
      rest = rest.subarray(end + 1);
    }
    parts.push(rest);
    size += rest.length;
    if (size > most) throw new Error(`stdin: expected lines of at most ${most} bytes`);
  }
}
