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
import { after, attempt } from '../later.js';
import { quietly } from '../refused.js';
import type { RequestContext } from '../request-context.js';
import { clientId, ownId } from './ids.js';
import { cancelling, cancels, type Numbered, Pending } from './pending.js';

/** One message between the wire and the handlers of a protected server. */
export interface Passing {
  /**
   * Runs before the handler. Returns the message for it, or a response in its place, or nothing. Without a
   * promise the message is delivered synchronously, as the SDK's transports do.
   */
  enter(): Entered | Promise<Entered>;
  /**
   * Runs after the handler. Returns the response for the client. The SDK sets the HTTP status of an error only
   * during delivery, so an error is returned without a promise, and any other response if possible.
   */
  leave(response: JSONRPCResponse): Leaving | Promise<Leaving>;
  /** Runs when the message was answered or dropped. */
  end(): void;
}

export type Entered =
  | { readonly deliver: Arrived }
  | { readonly answer: JSONRPCResponse }
  | undefined;

/** The response for the client; `undefined` if it was dropped. */
export type Leaving = JSONRPCResponse | undefined;

/** A message for a server's handlers. */
export type Arrived = JSONRPCRequest | JSONRPCNotification;

/** Creates the {@link Passing} of a message. */
export type Boundary<Call extends Passing> = (message: Arrived, context: RequestContext) => Call;

/** A request in the SDK, between its delivery and the creation of its context. */
export interface Delivery<Call> {
  readonly call: Call;
  /** The client's id. */
  readonly id: RequestId;
  /** Called when the SDK has accepted it; it answers unless the signal aborts. */
  taken(signal: AbortSignal): void;
}

/** The server's side of a boundary. */
export interface Receiver<Call> {
  /** Whether there is a handler for a method. */
  serves(method: string): boolean;
  /** Registers the delivery of a message's `extra`, before the message is delivered. */
  expect(extra: MessageExtraInfo, delivery: Delivery<Call>): void;
}

/** A request, until it is answered or dropped. */
interface Exchange<Call> extends Numbered {
  readonly call: Call;
  isDelivered: boolean;
}

/** Intercepts a transport from its start on. */
export function intercept<Call extends Passing>(
  transport: Transport,
  boundary: Boundary<Call>,
  receiver: Receiver<Call>,
): void {
  const start = transport.start.bind(transport);
  const send = transport.send.bind(transport);
  const exchanges = new Pending<Exchange<Call>>();
  const end = (exchange: Exchange<Call>) => {
    exchanges.delete(exchange);
    exchange.call.end();
  };
  const failed = (error: unknown) => {
    quietly(() => transport.onerror?.(error as Error));
  };
  const respond = (id: RequestId, response: JSONRPCResponse) => {
    attempt(
      () => send({ ...response, id }),
      () => {},
      failed,
    );
  };

  const answer = (exchange: Exchange<Call>, response: JSONRPCResponse) => {
    end(exchange);
    respond(exchange.id, response);
  };

  transport.start = () => {
    const { onmessage: deliver, onclose: closed } = transport;

    const request = (message: JSONRPCRequest, extra?: MessageExtraInfo) => {
      const call = boundary(message, contextOf(transport, extra));
      const { id } = message;
      const exchange = exchanges.add({ call, id, ownId: ownId(id), isDelivered: false });
      const pass = (entered: Entered) => {
        // The request was dropped while it waited.
        if (!exchanges.has(exchange)) return call.end();
        if (entered === undefined) return end(exchange);
        if ('answer' in entered) return answer(exchange, entered.answer);
        const linked = { ...extra };
        const taken = (signal: AbortSignal) => {
          exchange.isDelivered = true;
          // The SDK does not report a request that it drops, such as a cancelled one.
          signal.addEventListener('abort', () => end(exchange), { once: true });
        };
        receiver.expect(linked, { call, id: clientId(exchange.id), taken });
        try {
          deliver?.({ ...entered.deliver, id: exchange.ownId }, linked);
        } finally {
          if (!exchange.isDelivered) end(exchange);
        }
      };
      // The SDK refuses an unknown method; for its HTTP status that must be synchronous.
      if (!receiver.serves(message.method)) return pass({ deliver: bare(message) });
      attempt(
        () => call.enter(),
        pass,
        (error) => {
          failed(error);
          if (exchanges.has(exchange)) answer(exchange, internalError());
        },
      );
    };

    const notification = (message: JSONRPCNotification, extra?: MessageExtraInfo) => {
      const exchange = exchanges.cancelled(message);
      if (exchange === undefined) return deliver?.(message, extra);
      if (exchange.isDelivered) return deliver?.(cancelling(message, exchange), extra);
      if (cancels(message)) end(exchange);
    };

    const arrived = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      if (isRequest(message)) return request(message, extra);
      if (!isNotification(message)) return deliver?.(message, extra);
      const call = boundary(message, contextOf(transport, extra));
      const pass = (entered: Entered) => {
        call.end();
        if (entered !== undefined && 'deliver' in entered) notification(message, extra);
      };
      attempt(() => call.enter(), pass, failed);
    };
    // Nothing that a client sends throws into the host.
    transport.onmessage = (message, extra) => {
      try {
        arrived(message, extra);
      } catch (error) {
        failed(error);
        if (isRequest(message)) respond(message.id, internalError());
      }
    };
    transport.onclose = () => {
      try {
        closed?.();
      } finally {
        for (const exchange of exchanges.all()) end(exchange);
      }
    };
    return start();
  };

  transport.send = async (message, options) => {
    if (!isResponse(message)) return send(message, related(options));
    const exchange = exchanges.get(message.id);
    // The response to a dropped request, which could not be sealed any more.
    if (exchange === undefined) return;
    let isSent = false;
    try {
      return await after(exchange.call.leave(message), async (left) => {
        if (left === undefined || !exchanges.has(exchange)) return;
        isSent = true;
        end(exchange);
        return send({ ...left, id: exchange.id }, options);
      });
    } catch (error) {
      failed(error);
      // Its result has a getter that throws, or more levels than JSON can be written of; or nothing can be sent.
      if (isSent || exchanges.has(exchange)) answer(exchange, internalError());
    }
  };
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

function bare({ jsonrpc, id, method }: JSONRPCRequest): JSONRPCRequest {
  return { jsonrpc, id, method };
}

function internalError(): JSONRPCResponse {
  return { jsonrpc: '2.0', ...fixed('data-layer', { error: null }) } as JSONRPCResponse;
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

function isNotification(message: JSONRPCMessage): message is JSONRPCNotification {
  return 'method' in message && !('id' in message);
}

function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return 'result' in message || 'error' in message;
}
