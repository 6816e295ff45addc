/// <reference types="node" />

/** SEP-1359 over stdio. Only for Node. */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { Duplex, Readable, type Writable } from 'node:stream';

import { checked } from '../../input.js';
import { checkTtl } from '../../lifetime.js';
import type { Machine } from '../../machine.js';
import { Caller } from '../caller.js';
import { nameOf } from '../cause.js';
import type { Engine, Exchange } from '../engine.js';
import { type Guard, policyOf } from '../guard.js';
import { type Known, referenced } from '../handler/reference.js';
import { reportError } from '../hooks.js';
import type { Policy } from '../options.js';
import { cancelled } from './message.js';

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
  const engine = policy.transport({ ...settings, sep1359: true });
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
    const message = `stdout: expected a client that reads, found ${nameOf(error)}`;
    reportError(policy, { message }, error);
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

/** Reads a line as the SDK does, and throws where that does. */
type Read = (line: string) => unknown;

/** The connection of one client on stdio, with the sessions of SEP-1359. */
class StdioConnection {
  readonly #policy: Policy;
  readonly #engine: Engine;
  readonly #connection: Machine;
  readonly #send: (line: string) => void;
  readonly #reads: Promise<Read>;
  /** What names requests to the guard at the SDK's messages, by their ids. */
  readonly #references = new Map<unknown, string>();
  /** Takes the SDK's answer to a session that is replayed to it. */
  #replayed: ((answer: string | undefined) => void) | undefined;

  constructor(policy: Policy, engine: Engine, send: (line: string) => void, reads: Promise<Read>) {
    this.#policy = policy;
    this.#engine = engine;
    this.#connection = engine.connection();
    this.#send = send;
    this.#reads = reads;
  }

  /** Yields the lines for the SDK, for one of the client's. */
  async *enter(line: Uint8Array): AsyncGenerator<string> {
    let exchange: Exchange | undefined;
    try {
      exchange = this.#engine.line(this.#connection, line);
      const caller = new Caller(this.#policy);
      let step = await caller.drive(exchange);
      if (step.step === 'ask') {
        const answered = new Promise<string | undefined>((done) => {
          this.#replayed = done;
        });
        yield exchange.text as string;
        step = await caller.drive(exchange, exchange.told({ value: await answered }));
      }
      if (step.step === 'deliver') {
        const text = exchange.text as string;
        const { principal } = caller;
        const { withinMs, id: sessionId } = step;
        if (await this.#isRead(text)) {
          yield principal ? this.#named(text, { principal, withinMs, sessionId }) : text;
          return;
        }
        const broke = 'message: expected one that the SDK reads';
        step = await caller.drive(exchange, exchange.on({ broke }));
        // What nobody is answered the SDK reports; what stands before is the guard's own.
        const own = lastOf(text) - 1;
        if (step.step === 'drop') yield text;
        else if (own > 0) yield text.slice(0, own);
      }
      if (exchange.text !== undefined) this.#send(exchange.text);
    } catch (cause) {
      this.#failed(cause);
    } finally {
      exchange?.free();
    }
  }

  /** Whether the SDK can read the last of some lines: nobody would hear of it. */
  async #isRead(lines: string): Promise<boolean> {
    const read = await this.#reads;
    try {
      read(lines.slice(lastOf(lines)));
      return true;
    } catch {
      return false;
    }
  }

  /** Tells the guard at the SDK's messages what is known of the last of some lines. */
  #named(lines: string, known: Known): string {
    const at = lastOf(lines);
    const message = JSON.parse(lines.slice(at));
    this.#forget(cancelled(message));
    const named = referenced(message, known, this.#policy.known, (reference, id) => {
      this.#references.set(id, reference);
    });
    return named === message ? lines : lines.slice(0, at) + JSON.stringify(named);
  }

  /** Sends a message of the SDK. */
  async leave(line: string): Promise<void> {
    try {
      const exchange = this.#engine.leaves(this.#connection, line);
      const step = await new Caller(this.#policy).finish(exchange);
      if (step.step === 'replayed') this.#replayed?.(exchange.text);
      else if (exchange.text !== undefined) this.#send(exchange.text);
      if (this.#references.size === 0) return;
      const { id, method } = JSON.parse(line);
      if (method === undefined) this.#forget(id);
    } catch (cause) {
      this.#failed(cause);
    }
  }

  #forget(id: unknown): void {
    this.#policy.known.delete(this.#references.get(id));
    this.#references.delete(id);
  }

  /** Drops the requests in progress. */
  close(): void {
    this.#replayed?.(undefined);
    for (const id of this.#references.keys()) this.#forget(id);
    this.#connection.free();
  }

  #failed(cause: unknown): void {
    const message = 'stdio: expected a message that can be served, found an error';
    reportError(this.#policy, { message }, cause);
  }
}

/** Returns where the last line begins. */
function lastOf(lines: string): number {
  return lines.lastIndexOf('\n') + 1;
}
