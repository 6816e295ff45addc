/// <reference types="node" />

/** SEP-1359 over stdio. Only for Node, so it is a separate entry point. */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { Duplex, Readable, type Writable } from 'node:stream';

import { checked } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { type Guard, policyOf } from './guard.js';
import { isMessage, type Message } from './transport/messages.js';
import { StdioConnection } from './transport/stdio-connection.js';

/** The longest line, in characters, that the SDK's own transport accepts. */
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
  const send = (message: Message) => void stdout.write(written(message));
  const connection = new StdioConnection(policy, engine, send);
  const inward = async function* () {
    for await (const line of lines(stdin, MAX_BYTES)) {
      const message = parsed(line);
      if (message === undefined) yield Buffer.from(`${line}\n`);
      else for await (const next of connection.enter(message)) yield Buffer.from(written(next));
    }
  };
  const outward = Duplex.from(async (source: AsyncIterable<Buffer | string>) => {
    try {
      for await (const line of lines(source)) {
        const message = parsed(line);
        if (message === undefined) stdout.write(`${line}\n`);
        else await connection.leave(message);
      }
    } finally {
      connection.close();
    }
  });
  return [Readable.from(inward()), outward];
}

/** Yields a stream's lines, without their ends. */
async function* lines(
  source: AsyncIterable<Buffer | string>,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of source) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const whole = `${rest}${text}`.split('\n');
    rest = whole.pop() ?? '';
    if (rest.length > most) throw new Error(`stdin: expected lines of at most ${most} characters`);
    yield* whole;
  }
}

/** Parses a message; the SDK refuses any other line. */
function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function written(message: Message): string {
  return `${JSON.stringify(message)}\n`;
}
