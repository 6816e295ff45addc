/// <reference types="node" />

/** SEP-1359 over stdio: for Node, apart from what runs everywhere. */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';

import { optional } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { Caller } from './caller.js';
import type { Checks } from './checks.js';
import { checksOf, type Guard } from './guard.js';
import { type Negotiated, negotiatedOf, sealed } from './negotiated.js';
import {
  admitted,
  carrying,
  endedByAnother,
  errorTo,
  facts,
  greeting,
  isMessage,
  type Message,
  TERMINATE,
  takenOff,
} from './sep1359.js';

/** As much as the SDK's own transport holds of a line. */
const MOST = 10 * 1024 * 1024;

/**
 * Streams for the SDK's `StdioServerTransport`, which carry the sessions of SEP-1359: `sessionId`
 * and `sessionTimeout` in the answer to `initialize`, `sessionId` in messages both ways for a peer
 * that sends one, and `session/terminate`.
 *
 * A session outlives the process: a request with a good `sessionId` is served though this process
 * saw no `initialize`. What was negotiated comes of the token, and is told to the SDK as an
 * `initialize` whose answer goes nowhere. What else the process held is gone.
 *
 * @param given `ttl`: how many seconds a session lives, 30 days unless set
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
  } = {},
): [Readable, Writable] {
  const { stdin = process.stdin, stdout = process.stdout, ttl } = given;
  const life = optional(checkTtl, 'ttl', ttl);
  const line = new Line(checksOf(guard), life, (message) => stdout.write(text(message)));
  const outward = linesOf(async (json) => {
    const message = parsed(json);
    if (message === undefined) stdout.write(`${json}\n`);
    else await line.leave(message);
  });
  return [Readable.from(incoming(stdin, line)), outward];
}

/** One client on one process. */
class Line {
  readonly #checks: Checks;
  readonly #ttl: number | undefined;
  readonly #send: (message: Message) => void;
  /** The requests that wait for an answer: `initialize`, and those that came with a session. */
  readonly #initializing = new Map<unknown, Message>();
  readonly #sessionOf = new Map<unknown, string>();
  /** What a peer last sent: what the server says of itself is of that session. */
  #session: string | undefined;
  #isInitialized = false;
  #replayed: { readonly id: string; readonly done: () => void } | undefined;

  constructor(checks: Checks, ttl: number | undefined, send: (message: Message) => void) {
    this.#checks = checks;
    this.#ttl = ttl;
    this.#send = send;
  }

  /** What the SDK shall read of a message that came. */
  async *enter(came: Message): AsyncGenerator<Message> {
    const { message, sessionId } = takenOff(came);
    const { id, method } = message;
    if (method === 'initialize') {
      this.#initializing.set(id, message);
      this.#isInitialized = true;
    } else if (sessionId !== undefined) {
      const negotiated = await this.#admit(message, sessionId);
      if (negotiated === undefined) return;
      if (method === TERMINATE) return this.#send({ jsonrpc: '2.0', id, result: {} });
      if (!this.#isInitialized) yield* this.#replay(negotiated);
      this.#session = sessionId as string;
      if (method !== undefined && id !== undefined) this.#sessionOf.set(id, this.#session);
    }
    // The SDK never answers what was cancelled.
    if (method === 'notifications/cancelled')
      this.#sessionOf.delete(Object(message.params).requestId);
    yield message;
  }

  /** What was negotiated, if the session is good; otherwise it was answered. */
  async #admit(message: Message, sessionId: unknown): Promise<Negotiated | undefined> {
    const { id, method } = message;
    const caller = new Caller(this.#checks, {});
    try {
      const opened = await admitted(this.#checks, caller, sessionId);
      const negotiated = negotiatedOf(opened);
      if (method === TERMINATE) await this.#checks.ended(caller, 'session', facts(opened));
      return negotiated;
    } catch (error) {
      await endedByAnother(this.#checks, caller, error, sessionId, this.#ttl);
      const refused = errorTo(this.#checks, caller, error, sessionId);
      if (method !== undefined && id !== undefined) this.#send({ jsonrpc: '2.0', id, ...refused });
      return undefined;
    } finally {
      caller.done();
    }
  }

  /** The handshake that another process had, for this one's SDK. */
  async *#replay(negotiated: Negotiated): AsyncGenerator<Message> {
    this.#isInitialized = true;
    const { protocolVersion, clientCapabilities: capabilities, clientInfo } = negotiated;
    const id = `sealwax-${crypto.randomUUID()}`;
    const answered = new Promise<void>((done) => {
      this.#replayed = { id, done };
    });
    const params = { protocolVersion, capabilities, clientInfo };
    yield { jsonrpc: '2.0', id, method: 'initialize', params };
    await answered;
    yield { jsonrpc: '2.0', method: 'notifications/initialized' };
  }

  /** Sends what the SDK says, with the session that it belongs to. */
  async leave(message: Message): Promise<void> {
    const { id, method } = message;
    if (method !== undefined) {
      return this.#send(this.#session === undefined ? message : carrying(message, this.#session));
    }
    if (id !== undefined && id === this.#replayed?.id) return this.#replayed.done();
    const request = this.#initializing.get(id);
    if (this.#initializing.delete(id) && request !== undefined && isMessage(message.result)) {
      return this.#send(await this.#begun(request, message));
    }
    const sessionId = this.#sessionOf.get(id);
    this.#sessionOf.delete(id);
    this.#send(sessionId === undefined ? message : carrying(message, sessionId));
  }

  async #begun({ id, params }: Message, message: Message): Promise<Message> {
    const caller = new Caller(this.#checks, {});
    try {
      const { view } = await caller.who();
      return greeting(message, sealed(view, params, message.result, this.#ttl));
    } catch (error) {
      const failure = this.#checks.unsealed('sep-1359', caller, 'session', error);
      return { jsonrpc: '2.0', id, ...failure };
    } finally {
      caller.done();
    }
  }
}

async function* incoming(stdin: Readable, line: Line): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stdin) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MOST) throw new Error(`stdin: expected lines of at most ${MOST} characters`);
    for (const json of lines) {
      const message = parsed(json);
      if (message === undefined) yield Buffer.from(`${json}\n`);
      else for await (const next of line.enter(message)) yield Buffer.from(text(next));
    }
  }
}

/** A stream that hands over one line after another. */
function linesOf(each: (json: string) => Promise<void>): Writable {
  let rest = '';
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      const lines = `${rest}${chunk}`.split('\n');
      rest = lines.pop() ?? '';
      const all = async () => {
        for (const json of lines) await each(json);
      };
      all().then(() => done(), done);
    },
  });
}

/** What is no message, the SDK refuses as it is. */
function parsed(json: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function text(message: Message): string {
  return `${JSON.stringify(message)}\n`;
}
