import type { RequestId } from '@modelcontextprotocol/server';
import { answer } from '../../answer.js';
import type { Step } from '../../documents.js';
import { Caller } from '../caller.js';
import type { Engine, Exchange } from '../engine.js';
import { reportError } from '../hooks.js';
import type { Policy } from '../policy.js';
import { clientId, isOwn, ownId } from './ids.js';
import {
  addSessionId,
  begun,
  isMessage,
  isModern,
  isRequest,
  type Message,
  stripSessionId,
  withChanges,
} from './messages.js';
import type { Negotiated } from './negotiated.js';
import { cancelling, cancels, type Numbered, Pending } from './pending.js';

/** A request in the SDK, until its response. */
interface Waiting extends Numbered {
  /** The caller that sent it. */
  readonly caller: Caller;
  readonly exchange: Exchange;
  /** Whether the engine needs its result. */
  readonly isReported: boolean;
  /** The session of the request. */
  readonly sessionId: string | undefined;
}

/** The connection of one client on stdio, with the sessions of SEP-1359. */
export class StdioConnection {
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
    try {
      yield* this.#entered(came);
    } catch (cause) {
      this.#failed(cause, isRequest(came) ? came.id : undefined);
    }
  }

  async *#entered(came: Message): AsyncGenerator<Message> {
    const { message, messageSessionId } = stripSessionId(came);
    const caller = new Caller(this.#policy, {}, message);
    const modern = isModern(message);
    const exchange = begun(this.#engine, came, message, { modern, messageSessionId });
    let isWaiting = false;
    try {
      let step = await caller.drive(exchange);
      if (step.step === 'deliver') {
        this.#isInitialized ||= message.method === 'initialize';
        if (step.negotiated && !this.#isInitialized) {
          this.#isInitialized = yield* this.#replay(JSON.parse(step.negotiated));
        }
        if (step.negotiated && !this.#isInitialized) {
          const notResumed = 'initialize: the server refused it';
          step = await caller.drive(exchange, exchange.on({ notResumed }));
        }
      }
      if (step.step === 'deliver') {
        const { addSessionId: sessionId = undefined, report, withinMs } = step;
        this.#session = sessionId ?? this.#session;
        const what = { caller, exchange, sessionId: sessionId ?? undefined, isReported: !!report };
        const next = this.#awaited(this.#cancelled(message), what, withinMs);
        isWaiting = true;
        yield next;
      } else if (isRequest(message)) this.#replied(step, message.id);
    } finally {
      if (!isWaiting) exchange.free();
    }
  }

  /** Drops the requests in progress. */
  close(): void {
    for (const waiting of this.#pending.values()) this.#end(waiting);
  }

  /** Reports an error, and answers the request that could not be served, or whose response cannot be written. */
  #failed(cause: unknown, id: unknown): void {
    reportError(
      this.#policy,
      'stdio: expected a message that can be served, found an error',
      cause,
    );
    if (id === undefined) return;
    this.#send({ jsonrpc: '2.0', id, ...answer('data-layer', { error: cause }) });
  }

  #replied(step: Step, id: unknown): void {
    if (step.step !== 'reply') return;
    if (step.error) this.#send({ jsonrpc: '2.0', id, error: step.error });
    else if (step.done) this.#send({ jsonrpc: '2.0', id, result: {} });
  }

  /** Registers a request under an id of ours; returns any other message unchanged. */
  #awaited(message: Message, what: Omit<Waiting, keyof Numbered>, withinMs: number): Message {
    // The id of this request is the name of its subscription.
    if (!isRequest(message) || message.method === 'subscriptions/listen') {
      what.exchange.free();
      return message;
    }
    const { id } = message;
    const { ownId: own } = this.#pending.add({ ...what, id, ownId: ownId(id) });
    this.#policy.knownById.set(own, { principal: what.caller.principal, withinMs });
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
    this.#pending.remove(waiting);
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
    try {
      if (method !== undefined) this.#send(withSession(message, this.#session));
      else if (!isOwn(id)) this.#send(message);
      else if (id === this.#replayed?.id) this.#replayed.done(message);
      else await this.#answered(this.#pending.get(id), message);
    } catch (cause) {
      this.#failed(cause, method === undefined ? clientId(id as RequestId) : undefined);
    }
  }

  async #answered(waiting: Waiting | undefined, message: Message): Promise<void> {
    // The response to a cancelled request.
    if (waiting === undefined) return;
    const { caller, exchange, id, isReported, sessionId } = waiting;
    const answer: Message = { ...message, id };
    try {
      if (!isReported || !isMessage(answer.result))
        return this.#send(withSession(answer, sessionId));
      const result = JSON.stringify(answer.result);
      const step = await caller.drive(exchange, exchange.on({ result: {} }, result));
      if (step.step !== 'respond') return this.#replied(step, id);
      this.#send(withChanges(answer, step.set));
    } finally {
      this.#end(waiting);
    }
  }
}

function withSession(message: Message, sessionId: string | undefined): Message {
  return sessionId === undefined ? message : addSessionId(message, sessionId);
}
