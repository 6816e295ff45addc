/// <reference types="node" />

/** SEP-1359 over stdio: for Node, apart from what runs everywhere. */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';

import type { RequestId } from '@modelcontextprotocol/server';
import { optional } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { Caller } from './caller.js';
import type { Checks } from './checks.js';
import { checksOf, type Guard } from './guard.js';
import { isOwn, ownId } from './ids.js';
import { type Negotiated, negotiatedOf, sealed } from './negotiated.js';
import {
  admitted,
  carrying,
  endedByAnother,
  errorTo,
  facts,
  greeting,
  isMessage,
  isRequest,
  type Message,
  noRequest,
  TERMINATE,
  takenOff,
} from './sep1359.js';

/** As much as the SDK's own transport holds of a line. */
const MOST = 10 * 1024 * 1024;

/**
 * Streams for the SDK's `StdioServerTransport`, which carry the sessions of SEP-1359: `sessionId`
 * and `sessionTimeout` in the answer to `initialize`, `sessionId` in messages both ways for a peer
 * that sends one, and `session/terminate`, if the guard has an `accept` to remember that.
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

/** A request at the SDK, and what its answer needs. */
interface Waiting {
  readonly id: RequestId;
  /** The parameters of `initialize`, whose answer begins a session. */
  readonly initialize?: unknown;
  /** The session that it came with. */
  readonly sessionId?: string;
}

/** One client on one process. */
class Line {
  readonly #checks: Checks;
  readonly #ttl: number | undefined;
  readonly #send: (message: Message) => void;
  /** By ids of ours: a client's may be that of two requests at a time. */
  readonly #waiting = new Map<string, Waiting>();
  /** Of requests with one id, the last: as the SDK has it, a cancellation means that one. */
  readonly #latest = new Map<unknown, string>();
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
    const { method } = message;
    if (method === TERMINATE && !isRequest(message)) return this.#refuseToEnd(sessionId);
    if (method === 'initialize') {
      this.#isInitialized = true;
      return yield this.#awaited(message, { initialize: message.params ?? null });
    }
    if (sessionId === undefined) return yield this.#awaited(this.#meant(message), {});
    const ends = method === TERMINATE && this.#checks.remembers;
    const negotiated = await this.#admit(message, sessionId, ends);
    if (negotiated === undefined) return;
    if (ends) return this.#send({ jsonrpc: '2.0', id: message.id, result: {} });
    if (!this.#isInitialized) yield* this.#replay(negotiated);
    this.#session = sessionId as string;
    yield this.#awaited(this.#meant(message), { sessionId: this.#session });
  }

  /** A request under an id of ours, until its answer comes; whatever else as it is. */
  #awaited(message: Message, what: Omit<Waiting, 'id'>): Message {
    // The id of this one is the name of what it subscribes to.
    if (!isRequest(message) || message.method === 'subscriptions/listen') return message;
    const id = ownId(message.id);
    this.#waiting.set(id, { ...what, id: message.id });
    this.#latest.set(message.id, id);
    return { ...message, id };
  }

  /** A cancellation, of the request that it means; whatever else as it is. */
  #meant(message: Message): Message {
    if (message.method !== 'notifications/cancelled') return message;
    const { requestId, reason } = Object(message.params);
    const id = this.#latest.get(requestId);
    if (id === undefined) return message;
    // The SDK takes no other for one, and then never answers.
    if (reason === undefined || typeof reason === 'string') this.#taken(id);
    return { ...message, params: { ...Object(message.params), requestId: id } };
  }

  /** What waits under an id of ours, which waits no more. */
  #taken(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#latest.get(waiting?.id) === id) this.#latest.delete(waiting?.id);
    return waiting;
  }

  /** What was negotiated, if the session is good; otherwise it was answered. */
  async #admit(
    { id, method }: Message,
    sessionId: unknown,
    ends: boolean,
  ): Promise<Negotiated | undefined> {
    const caller = new Caller(this.#checks, {});
    try {
      const opened = await admitted(this.#checks, caller, sessionId);
      const negotiated = negotiatedOf(opened);
      if (ends) await this.#checks.ended(caller, 'session', facts(opened));
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

  #refuseToEnd(sessionId: unknown): void {
    errorTo(this.#checks, new Caller(this.#checks, {}), noRequest(), sessionId);
  }

  /** The handshake that another process had, for this one's SDK. */
  async *#replay(negotiated: Negotiated): AsyncGenerator<Message> {
    this.#isInitialized = true;
    const { protocolVersion, clientCapabilities: capabilities, clientInfo } = negotiated;
    const id = ownId('initialize');
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
    if (!isOwn(id)) return this.#send(message);
    if (id === this.#replayed?.id) return this.#replayed.done();
    const waiting = this.#taken(id);
    // An answer to what was cancelled: nobody waits for it.
    if (waiting === undefined) return;
    const { sessionId, initialize } = waiting;
    const answer: Message = { ...message, id: waiting.id };
    if (sessionId !== undefined) return this.#send(carrying(answer, sessionId));
    const begins = initialize !== undefined && isMessage(answer.result);
    this.#send(begins ? await this.#begun(initialize, answer) : answer);
  }

  async #begun(params: unknown, message: Message): Promise<Message> {
    const caller = new Caller(this.#checks, {});
    try {
      const { view } = await caller.who();
      return greeting(message, sealed(view, params, message.result, this.#ttl));
    } catch (error) {
      const failure = this.#checks.unsealed('sep-1359', caller, 'session', error);
      return { jsonrpc: '2.0', id: message.id, ...failure };
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
