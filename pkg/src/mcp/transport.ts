/**
 * Where messages pass: all of it public interface of the SDK, which says that a transport's
 * callbacks are set before it starts, and that all that leaves is sent by it.
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
import { answer as fixed } from '../answer.js';
import { meantBy, ownId } from './ids.js';
import { after, attempt } from './later.js';
import { cancelling, cancels, type Numbered, Pending } from './pending.js';
import type { RequestContext } from './request-context.js';

/** One message between the wire and the handlers of a protected server. */
export interface Passing {
  /**
   * Before the handler: the message that it shall see, or what answers in its stead, or nothing at all.
   * What is given without a promise is delivered at once, as the SDK's transports deliver.
   */
  enter(): Entered | Promise<Entered>;
  /**
   * After the handler: what goes to the client. The SDK finds an HTTP status for an error only
   * while it delivers: so an error is given without a promise, and whatever else can be.
   */
  leave(response: JSONRPCResponse): Leaving | Promise<Leaving>;
  /** Nothing comes of it any more: it was answered, or dropped. */
  end(): void;
}

export type Entered =
  | { readonly deliver: Arrived }
  | { readonly answer: JSONRPCResponse }
  | undefined;

/** What goes to the client; nothing where it was dropped. */
export type Leaving = JSONRPCResponse | undefined;

/** What comes to a server's handlers. */
export type Arrived = JSONRPCRequest | JSONRPCNotification;

/** Makes of each message one that passes. */
export type Boundary<Call extends Passing> = (message: Arrived, context: RequestContext) => Call;

/** One request at the SDK: between the message delivered and the context that it makes of it. */
export interface Delivery<Call> {
  readonly call: Call;
  /** The client's own id. */
  readonly id: RequestId;
  /** The SDK has taken it, and answers it unless this aborts. */
  taken(signal: AbortSignal): void;
}

/** The SDK's side of a boundary. */
export interface Receiver<Call> {
  /** Whether it has a handler for a method. */
  serves(method: string): boolean;
  /** Is told what a message's `extra` belongs to, before it is delivered. */
  expect(extra: MessageExtraInfo, delivery: Delivery<Call>): void;
}

/** A request until it is answered or dropped. */
interface Exchange<Call> extends Numbered {
  readonly call: Call;
  isDelivered: boolean;
}

/** Stands in a transport's way, from when it starts. */
export function stand<Call extends Passing>(
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
  const failed = (error: unknown) => transport.onerror?.(error as Error);

  const answer = (exchange: Exchange<Call>, response: JSONRPCResponse) => {
    end(exchange);
    send({ ...response, id: exchange.id }).catch(failed);
  };

  transport.start = () => {
    const { onmessage: deliver, onclose: closed } = transport;

    const request = (message: JSONRPCRequest, extra?: MessageExtraInfo) => {
      const call = boundary(message, contextOf(transport, extra));
      const { id } = message;
      const exchange = exchanges.add({ call, id, ownId: ownId(id), isDelivered: false });
      const pass = (entered: Entered) => {
        // Dropped while it waited, and what it has come to meanwhile.
        if (!exchanges.has(exchange)) return call.end();
        if (entered === undefined) return end(exchange);
        if ('answer' in entered) return answer(exchange, entered.answer);
        const linked = { ...extra };
        const taken = (signal: AbortSignal) => {
          exchange.isDelivered = true;
          // The SDK says nothing of what it drops, such as what was cancelled.
          signal.addEventListener('abort', () => end(exchange), { once: true });
        };
        receiver.expect(linked, { call, id: meantBy(exchange.id), taken });
        try {
          deliver?.({ ...entered.deliver, id: exchange.ownId }, linked);
        } finally {
          if (!exchange.isDelivered) end(exchange);
        }
      };
      // What nothing serves, the SDK refuses by its name, and it needs to be at once.
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
      const exchange = exchanges.meantBy(message);
      if (exchange === undefined) return deliver?.(message, extra);
      if (exchange.isDelivered) return deliver?.(cancelling(message, exchange), extra);
      if (cancels(message)) end(exchange);
    };

    transport.onmessage = (message, extra) => {
      if (isRequest(message)) return request(message, extra);
      if (!isNotification(message)) return deliver?.(message, extra);
      const call = boundary(message, contextOf(transport, extra));
      const pass = (entered: Entered) => {
        call.end();
        if (entered !== undefined) notification(message, extra);
      };
      attempt(() => call.enter(), pass, failed);
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
    // An answer to what was dropped: nobody waits for it, and nothing could seal it.
    if (exchange === undefined) return;
    return after(exchange.call.leave(message), async (left) => {
      if (left === undefined || !exchanges.has(exchange)) return;
      end(exchange);
      return send({ ...left, id: exchange.id }, options);
    });
  };
}

function contextOf(transport: Transport, extra: MessageExtraInfo | undefined): RequestContext {
  const { authInfo, request } = extra ?? {};
  const http = authInfo || request ? { http: { authInfo, req: request } } : {};
  return { sessionId: transport.sessionId, ...http };
}

/** What belongs to a request of ours belongs to the client's, at the transport. */
function related(options: TransportSendOptions | undefined): TransportSendOptions | undefined {
  const { relatedRequestId } = options ?? {};
  if (relatedRequestId === undefined) return options;
  return { ...options, relatedRequestId: meantBy(relatedRequestId) };
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
