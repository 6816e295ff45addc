/// <reference types="node" />

/** SEP-1359 over stdio. Only for Node, so it is a separate entry point. */

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { Readable, Writable } from 'node:stream';

import type { RequestId } from '@modelcontextprotocol/server';

import { answer } from '../answer.js';
import { optional } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { Caller } from './caller.js';
import type { ClientValue, Engine, Exchange, Step } from './engine.js';
import { type Guard, policyOf } from './guard.js';
import type { Policy } from './policy.js';
import { report } from './refused.js';
import { clientId, isOwn, ownId } from './transport/ids.js';
import {
  carrying,
  claimsModern,
  facts,
  isMessage,
  isRequest,
  isTooDeep,
  type Message,
  stripSessionId,
  withResult,
} from './transport/messages.js';
import type { Negotiated } from './transport/negotiated.js';
import { cancelling, cancels, type Numbered, Pending } from './transport/pending.js';

/** The longest line, in characters, that the SDK's own transport accepts. */
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * Returns streams for the SDK's `StdioServerTransport` that carry the sessions of SEP-1359: `sessionId` and
 * `sessionTimeout` in the response to `initialize`, `sessionId` in messages in both directions if the client
 * sends one, and `session/terminate` if the guard has a `ledger` or an `accept` to record that.
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
  const { stdin = process.stdin, stdout = process.stdout, ttl, idle } = given;
  const policy = policyOf(guard);
  const engine = policy.transportOf({
    ttl: optional(checkTtl, 'ttl', ttl),
    idle: optional(checkTtl, 'idle', idle),
    sep1359: true,
  });
  const connection = new StdioConnection(policy, engine, (message) => stdout.write(text(message)));
  const outward = linesOf(async (json) => {
    const message = parsed(json);
    if (message === undefined) {
      stdout.write(`${json}\n`);
      return;
    }
    try {
      await connection.leave(message);
    } catch (cause) {
      connection.failed(cause, 'method' in message ? undefined : clientId(message.id as RequestId));
    }
  });
  return [Readable.from(incoming(stdin, connection)), outward];
}

/** A request in the SDK, until its response. */
interface Waiting extends Numbered {
  /** The caller that sent it. */
  readonly caller: Caller;
  readonly exchange: Exchange;
  /** Whether the engine needs its result. */
  readonly watched: boolean;
  /** The session of the request. */
  readonly stamp: string | undefined;
}

/** The connection of one client. */
class StdioConnection {
  readonly #policy: Policy;
  readonly #engine: Engine;
  readonly #send: (message: Message) => void;
  readonly #pending = new Pending<Waiting>();
  /** The session that the client sent last: the server's own messages belong to it. */
  #session: string | undefined;
  #isInitialized = false;
  #replayed: { readonly id: string; readonly done: (answer: Message) => void } | undefined;

  constructor(policy: Policy, engine: Engine, send: (message: Message) => void) {
    this.#policy = policy;
    this.#engine = engine;
    this.#send = send;
  }

  /** Yields the messages for the SDK, for one that came. */
  async *enter(came: Message): AsyncGenerator<Message> {
    const { message, messageSessionId } = stripSessionId(came);
    const caller = new Caller(this.#policy, {}, message);
    const exchange = isTooDeep(came)
      ? this.#engine.unreadable()
      : this.#begun(message, messageSessionId);
    let step = await caller.drive(exchange);
    if (step.step === 'deliver') {
      this.#isInitialized ||= message.method === 'initialize';
      const { negotiated } = step;
      if (negotiated !== undefined && !this.#isInitialized) {
        this.#isInitialized = yield* this.#replay(JSON.parse(negotiated));
        if (!this.#isInitialized) {
          const failed = { begun: { failed: 'initialize: the server refused it' } };
          step = await caller.drive(exchange, exchange.on(failed));
        }
      }
    }
    if (step.step !== 'deliver') {
      exchange.free();
      if (isRequest(message)) this.#replied(step, message.id);
      return;
    }
    const { stamp, watch } = step;
    this.#session = stamp ?? this.#session;
    yield this.#awaited(this.#cancelled(message), {
      ...{ caller, exchange, stamp, watched: watch !== undefined },
    });
  }

  #begun(message: Message, messageSessionId: ClientValue): Exchange {
    const { initialize, ...told } = facts(message);
    const modern = claimsModern(message);
    return this.#engine.transport({ ...told, modern, messageSessionId }, initialize);
  }

  /** Answers a request that could not be served, or whose response cannot be written. */
  failed(cause: unknown, id: unknown): void {
    const message = 'stdio: expected a message that can be served, found an error';
    const circumstances = { method: undefined, principal: undefined, cause };
    report(this.#policy, { code: 'invalid_argument', kind: 'session', message }, circumstances);
    if (id !== undefined)
      this.#send({ jsonrpc: '2.0', id, ...answer('data-layer', { error: cause }) });
  }

  #replied(step: Step, id: unknown): void {
    if (step.step !== 'reply') return;
    const { error, done } = step;
    if (error !== undefined) this.#send({ jsonrpc: '2.0', id, error });
    else if (done) this.#send({ jsonrpc: '2.0', id, result: {} });
  }

  /** Registers a request under an id of ours; returns any other message unchanged. */
  #awaited(message: Message, what: Omit<Waiting, keyof Numbered>): Message {
    // The id of this request is the name of its subscription.
    if (!isRequest(message) || message.method === 'subscriptions/listen') {
      what.exchange.free();
      return message;
    }
    const { id } = message;
    const { ownId: own } = this.#pending.add({ ...what, id, ownId: ownId(id) });
    const { principal, limit } = what.caller;
    this.#policy.knownById.set(own, { principal, limit });
    return { ...message, id: own };
  }

  /** Returns a cancellation with our id of the request; returns any other message unchanged. */
  #cancelled(message: Message): Message {
    const waiting = this.#pending.cancelled(message);
    if (waiting === undefined) return message;
    if (cancels(message)) this.#end(waiting);
    return cancelling(message, waiting);
  }

  #end(waiting: Waiting): void {
    this.#pending.delete(waiting);
    this.#policy.knownById.delete(waiting.ownId);
    waiting.exchange.free();
  }

  /** Replays the handshake of another process to the SDK; returns whether the SDK accepts it. */
  async *#replay(negotiated: Negotiated): AsyncGenerator<Message, boolean> {
    const { protocolVersion, clientCapabilities: capabilities, clientInfo } = negotiated;
    const id = ownId('initialize');
    const answered = new Promise<Message>((done) => {
      this.#replayed = { id, done };
    });
    const params = { protocolVersion, capabilities, clientInfo };
    yield { jsonrpc: '2.0', id, method: 'initialize', params };
    const { result } = await answered;
    if (Object(result).protocolVersion !== protocolVersion) return false;
    yield { jsonrpc: '2.0', method: 'notifications/initialized' };
    return true;
  }

  /** Sends a message of the SDK, with its session. */
  async leave(message: Message): Promise<void> {
    const { id, method } = message;
    if (method !== undefined) {
      return this.#send(this.#session === undefined ? message : carrying(message, this.#session));
    }
    if (!isOwn(id)) return this.#send(message);
    if (id === this.#replayed?.id) return this.#replayed.done(message);
    const waiting = this.#pending.get(id);
    // The response to a cancelled request.
    if (waiting === undefined) return;
    const answer: Message = { ...message, id: waiting.id };
    try {
      if (waiting.watched && isMessage(answer.result))
        return await this.#initialized(waiting, answer);
    } finally {
      this.#end(waiting);
    }
    this.#send(waiting.stamp === undefined ? answer : carrying(answer, waiting.stamp));
  }

  async #initialized({ caller, exchange, id }: Waiting, answer: Message): Promise<void> {
    const left = exchange.on({ left: {} }, JSON.stringify(answer.result));
    const step = await caller.drive(exchange, left);
    if (step.step !== 'leave') return this.#replied(step, id);
    const { header: sessionId, timeout: sessionTimeout } = step;
    this.#send(
      sessionId === undefined ? answer : withResult(answer, { sessionId, sessionTimeout }),
    );
  }
}

async function* incoming(stdin: Readable, connection: StdioConnection): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of stdin) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_BYTES)
      throw new Error(`stdin: expected lines of at most ${MAX_BYTES} characters`);
    for (const json of lines) {
      const message = parsed(json);
      if (message === undefined) yield Buffer.from(`${json}\n`);
      else yield* entered(connection, message);
    }
  }
}

async function* entered(connection: StdioConnection, message: Message): AsyncGenerator<Buffer> {
  try {
    for await (const next of connection.enter(message)) yield Buffer.from(text(next));
  } catch (cause) {
    connection.failed(cause, isRequest(message) ? message.id : undefined);
  }
}

/** Returns a stream that processes one line after another. */
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

/** Parses a message; the SDK refuses any other line. */
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
