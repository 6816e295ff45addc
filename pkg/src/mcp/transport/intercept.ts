/**
 * Intercepts the messages of a transport, through public interfaces of the SDK only: the SDK guarantees that
 * the callbacks are set before a transport starts, and that every message is sent through it.
 */

import type {
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/server';
import { answer as fixed } from '../../answer.js';
import { quietly } from '../../log.js';
import { Call, type Entered } from '../handler/call.js';
import { attempt, isPromiseLike } from '../later.js';
import type { Policy } from '../policy.js';
import type { RequestContext } from '../request-context.js';
import { clientId, ownId } from './ids.js';
import { cancelling, cancels, type Numbered, Pending } from './pending.js';

/** A request in the SDK, until it is answered or dropped. */
export interface Delivery extends Numbered {
  readonly call: Call;
  /** The SDK's, once it has accepted the request: it answers unless the signal aborts. */
  signal: AbortSignal | undefined;
  isWatched: boolean;
}

/** On our copy of a message's `extra`, until the context is created. */
export const DELIVERY = Symbol('sealwax delivery');

export interface Linked extends MessageExtraInfo {
  readonly [DELIVERY]?: Delivery;
}

/** Intercepts a transport from its start on. `serves` tells whether the server has a handler for a method. */
export function intercept(
  transport: Transport,
  policy: Policy,
  serves: (method: string) => boolean,
): void {
  const { start } = transport;
  const interception = new Interception(transport, policy, serves);
  transport.start = () => {
    interception.attach();
    return start.call(transport);
  };
  transport.send = (message, options) => interception.sent(message, options);
}

class Interception {
  readonly #transport: Transport;
  readonly #policy: Policy;
  readonly #serves: (method: string) => boolean;
  readonly #send: Transport['send'];
  #deliver: Transport['onmessage'];
  readonly #pending = new Pending<Delivery>();

  constructor(transport: Transport, policy: Policy, serves: (method: string) => boolean) {
    this.#transport = transport;
    this.#policy = policy;
    this.#serves = serves;
    this.#send = transport.send;
  }

  attach(): void {
    const transport = this.#transport;
    const { onclose, onmessage } = transport;
    this.#deliver = onmessage;
    // Nothing that a client sends throws into the host.
    transport.onmessage = (message, extra) => {
      try {
        this.#arrived(message, extra);
      } catch (error) {
        this.#failed(error);
        if ('method' in message && 'id' in message) this.#respond(message.id, internalError());
      }
    };
    transport.onclose = () => {
      try {
        onclose?.();
      } finally {
        for (const one of this.#pending.values()) this.#end(one);
      }
    };
  }

  #arrived(message: JSONRPCMessage, extra?: MessageExtraInfo) {
    if (!('method' in message)) return this.#deliver?.(message, extra);
    const call = new Call(this.#policy, message, contextOf(this.#transport, extra));
    if ('id' in message) return this.#request(message, call, extra);
    const pass = (entered: Entered) => {
      call.end();
      if (entered !== undefined && 'method' in entered) this.#notification(message, extra);
    };
    const failed = (error: unknown) => {
      call.end();
      this.#failed(error);
    };
    attempt(() => call.enter(), pass, failed);
  }

  #request(message: JSONRPCRequest, call: Call, extra?: MessageExtraInfo) {
    const { id } = message;
    const one = this.#pending.add({
      call,
      id,
      ownId: ownId(id),
      signal: undefined,
      isWatched: false,
    });
    // The SDK refuses an unknown method; for its HTTP status that must be synchronous.
    if (!this.#serves(message.method)) {
      const { jsonrpc, method } = message;
      return this.#pass(one, { jsonrpc, id, method }, extra);
    }
    attempt(
      () => call.enter(),
      (entered) => this.#pass(one, entered, extra),
      (error) => {
        this.#failed(error);
        if (this.#pending.has(one)) this.#answer(one, internalError());
      },
    );
  }

  #pass(one: Delivery, entered: Entered, extra?: MessageExtraInfo) {
    // The request was dropped while it waited.
    if (!this.#pending.has(one)) return one.call.end();
    if (entered === undefined) return this.#end(one);
    if (!('method' in entered)) return this.#answer(one, entered);
    const linked: Linked = { ...extra, [DELIVERY]: one };
    // The author may have set another fallback handler meanwhile.
    this.#serves(entered.method);
    try {
      this.#deliver?.({ ...entered, id: one.ownId }, linked);
    } finally {
      if (one.signal === undefined) this.#end(one);
    }
  }

  #notification(message: JSONRPCNotification, extra?: MessageExtraInfo) {
    const one = this.#pending.cancelled(message);
    if (one === undefined) return this.#deliver?.(message, extra);
    if (one.signal === undefined) {
      if (cancels(message)) this.#end(one);
      return;
    }
    // The SDK does not report a request that it drops; without a cancellation it drops none of an open connection.
    if (!one.isWatched) one.signal.addEventListener('abort', () => this.#end(one), { once: true });
    one.isWatched = true;
    this.#deliver?.(cancelling(message, one), extra);
  }

  /** Sends a message of the SDK. */
  async sent(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if ('method' in message) return this.#send.call(this.#transport, message, related(options));
    const one = this.#pending.get(message.id);
    // The response to a dropped request, which could not be sealed any more.
    if (one === undefined) return;
    let isSent = false;
    try {
      const leaving = one.call.leave(message);
      const left = isPromiseLike(leaving) ? await leaving : leaving;
      if (left === undefined || !this.#pending.has(one)) return;
      isSent = true;
      this.#end(one);
      await this.#send.call(this.#transport, { ...left, id: one.id }, options);
    } catch (error) {
      this.#failed(error);
      // Its result has a getter that throws, or more levels than JSON can be written of; or nothing can be sent.
      if (isSent || this.#pending.has(one)) this.#answer(one, internalError());
    }
  }

  #answer(one: Delivery, response: JSONRPCResponse): void {
    this.#end(one);
    this.#respond(one.id, response);
  }

  #respond(id: RequestId, response: JSONRPCResponse): void {
    attempt(
      () => this.#send.call(this.#transport, { ...response, id }),
      () => {},
      (error) => this.#failed(error),
    );
  }

  #end(one: Delivery): void {
    this.#pending.remove(one);
    one.call.end();
  }

  #failed(error: unknown): void {
    quietly(() => this.#transport.onerror?.(error as Error));
  }
}

function contextOf(transport: Transport, extra: MessageExtraInfo | undefined): RequestContext {
  const { authInfo, request } = extra ?? {};
  const http = authInfo || request ? { http: { authInfo, req: request } } : {};
  return { sessionId: transport.sessionId, ...http };
}

/** Replaces our id of the related request by the client's, for the transport. */
function related(options: TransportSendOptions | undefined): TransportSendOptions | undefined {
  const { relatedRequestId } = options ?? {};
  if (relatedRequestId === undefined) return options;
  return { ...options, relatedRequestId: clientId(relatedRequestId) };
}

function internalError(): JSONRPCResponse {
  return { jsonrpc: '2.0', ...fixed('data-layer', { error: null }) } as JSONRPCResponse;
}
