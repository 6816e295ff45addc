import { answer } from '../../answer.js';
import type { Step } from '../../documents.js';
import { Caller } from '../caller.js';
import type { Engine, Exchange } from '../engine.js';
import { newReference, withReference } from '../handler/reference.js';
import { reportError } from '../hooks.js';
import type { Policy } from '../policy.js';
import type { Params } from '../sdk.js';
import {
  addSessionId,
  begun,
  cancelled,
  isMessage,
  isModern,
  isRequest,
  type Message,
  stripSessionId,
  withChanges,
} from './messages.js';
import type { Negotiated } from './negotiated.js';

/** A request in the SDK, until its response. */
interface Waiting {
  /** The caller that sent it. */
  readonly caller: Caller;
  readonly exchange: Exchange;
  /** Whether the engine needs its result. */
  readonly isReported: boolean;
  /** The session of the request. */
  readonly sessionId: string | undefined;
  /** What names it to the guard at the SDK's messages. */
  readonly reference: string;
}

/** The connection of one client on stdio, with the sessions of SEP-1359. */
export class StdioConnection {
  readonly #policy: Policy;
  readonly #engine: Engine;
  readonly #send: (message: Message) => void;
  /** The requests that are not answered yet: no two of them have one id. */
  readonly #pending = new Map<unknown, Waiting>();
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
    const idInUse = isRequest(message) && this.#pending.has(message.id);
    const exchange = begun(this.#engine, came, message, { modern, messageSessionId, idInUse });
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
        const next = this.#awaited(message, what, withinMs);
        isWaiting = next !== message;
        yield next;
      } else if (isRequest(message)) this.#replied(step, message.id);
    } finally {
      if (!isWaiting) exchange.free();
    }
  }

  /** Drops the requests in progress. */
  close(): void {
    for (const id of this.#pending.keys()) this.#end(id);
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

  /** Registers a request, and returns it with its reference; returns any other message unchanged. */
  #awaited(message: Message, what: Omit<Waiting, 'reference'>, withinMs: number): Message {
    if (!isRequest(message)) {
      this.#end(cancelled(message));
      return message;
    }
    const reference = newReference();
    this.#pending.set(message.id, { ...what, reference });
    this.#policy.known.set(reference, { principal: what.caller.principal, withinMs });
    return { ...message, params: withReference(message.params as Params | undefined, reference) };
  }

  #end(id: unknown): void {
    const waiting = this.#pending.get(id);
    if (waiting === undefined) return;
    this.#pending.delete(id);
    this.#policy.known.delete(waiting.reference);
    waiting.exchange.free();
  }

  /** Replays the handshake of another process to the SDK; returns whether the SDK accepts it. */
  async *#replay(negotiated: Negotiated): AsyncGenerator<Message, boolean> {
    const { protocolVersion, clientCapabilities: capabilities, clientInfo } = negotiated;
    const id = newReference();
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
      else if (id === this.#replayed?.id) this.#replayed?.done(message);
      else await this.#answered(this.#pending.get(id), message);
    } catch (cause) {
      this.#failed(cause, method === undefined ? id : undefined);
    }
  }

  async #answered(waiting: Waiting | undefined, message: Message): Promise<void> {
    // Such as the SDK's answer to what is no request.
    if (waiting === undefined) return this.#send(message);
    const { caller, exchange, isReported, sessionId } = waiting;
    const { id, result } = message;
    try {
      if (!isReported || !isMessage(result)) return this.#send(withSession(message, sessionId));
      const event = exchange.on({ result: {} }, JSON.stringify(result));
      const step = await caller.drive(exchange, event);
      if (step.step !== 'respond') return this.#replied(step, id);
      this.#send(withChanges(message, step.set));
    } finally {
      if (this.#pending.get(id) === waiting) this.#end(id);
    }
  }
}

function withSession(message: Message, sessionId: string | undefined): Message {
  return sessionId === undefined ? message : addSessionId(message, sessionId);
}
