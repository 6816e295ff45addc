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
import { Call, type Entered } from '../handler/call.js';
import { after, attempt } from '../later.js';
import type { Policy } from '../policy.js';
import { quietly } from '../refused.js';
import type { RequestContext } from '../request-context.js';
import { clientId, ownId } from './ids.js';
import { cancelling, cancels, type Numbered, Pending } from './pending.js';

/** A request in the SDK, until it is answered or dropped. */
export interface Delivery extends Numbered {
  readonly call: Call;
  isDelivered: boolean;
  /** Called when the SDK has accepted it; it answers unless the signal aborts. */
  taken(signal: AbortSignal): void;
}

/** The server's side. */
interface Receiver {
  /** Whether there is a handler for a method. */
  serves(method: string): boolean;
  /** Deliveries by the `extra` of their messages, until their contexts are created. */
  readonly deliveries: WeakMap<MessageExtraInfo, Delivery>;
}

/** Intercepts a transport from its start on. */
export function intercept(
  transport: Transport,
  policy: Policy,
  { serves, deliveries }: Receiver,
): void {
  const start = transport.start.bind(transport);
  const send = transport.send.bind(transport);
  const pending = new Pending<Delivery>();
  const end = (one: Delivery) => {
    pending.remove(one);
    one.call.end();
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
  const answer = (one: Delivery, response: JSONRPCResponse) => {
    end(one);
    respond(one.id, response);
  };

  transport.start = () => {
    const { onmessage: deliver, onclose: closed } = transport;

    const request = (message: JSONRPCRequest, call: Call, extra?: MessageExtraInfo) => {
      const { id } = message;
      const one: Delivery = pending.add({
        ...{ call, id, ownId: ownId(id), isDelivered: false },
        taken(signal) {
          one.isDelivered = true;
          // The SDK does not report a request that it drops, such as a cancelled one.
          signal.addEventListener('abort', () => end(one), { once: true });
        },
      });
      const pass = (entered: Entered) => {
        // The request was dropped while it waited.
        if (!pending.has(one.ownId)) return call.end();
        if (entered === undefined) return end(one);
        if (!('method' in entered)) return answer(one, entered);
        const linked = { ...extra };
        deliveries.set(linked, one);
        try {
          deliver?.({ ...entered, id: one.ownId }, linked);
        } finally {
          if (!one.isDelivered) end(one);
        }
      };
      // The SDK refuses an unknown method; for its HTTP status that must be synchronous.
      if (!serves(message.method)) {
        const { jsonrpc, method } = message;
        return pass({ jsonrpc, id, method });
      }
      attempt(
        () => call.enter(),
        pass,
        (error) => {
          failed(error);
          if (pending.has(one.ownId)) answer(one, internalError());
        },
      );
    };

    const notification = (message: JSONRPCNotification, extra?: MessageExtraInfo) => {
      const one = pending.cancelled(message);
      if (one === undefined) return deliver?.(message, extra);
      if (one.isDelivered) return deliver?.(cancelling(message, one), extra);
      if (cancels(message)) end(one);
    };

    const arrived = (message: JSONRPCMessage, extra?: MessageExtraInfo) => {
      if (!('method' in message)) return deliver?.(message, extra);
      const call = new Call(policy, message, contextOf(transport, extra));
      if ('id' in message) return request(message, call, extra);
      const pass = (entered: Entered) => {
        call.end();
        if (entered !== undefined && 'method' in entered) notification(message, extra);
      };
      attempt(() => call.enter(), pass, failed);
    };
    // Nothing that a client sends throws into the host.
    transport.onmessage = (message, extra) => {
      try {
        arrived(message, extra);
      } catch (error) {
        failed(error);
        if ('method' in message && 'id' in message) respond(message.id, internalError());
      }
    };
    transport.onclose = () => {
      try {
        closed?.();
      } finally {
        for (const one of pending.values()) end(one);
      }
    };
    return start();
  };

  transport.send = async (message, options) => {
    if ('method' in message) return send(message, related(options));
    const one = pending.get(message.id);
    // The response to a dropped request, which could not be sealed any more.
    if (one === undefined) return;
    let isSent = false;
    try {
      return await after(one.call.leave(message), async (left) => {
        if (left === undefined || !pending.has(one.ownId)) return;
        isSent = true;
        end(one);
        return send({ ...left, id: one.id }, options);
      });
    } catch (error) {
      failed(error);
      // Its result has a getter that throws, or more levels than JSON can be written of; or nothing can be sent.
      if (isSent || pending.has(one.ownId)) answer(one, internalError());
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

function internalError(): JSONRPCResponse {
  return { jsonrpc: '2.0', ...fixed('data-layer', { error: null }) } as JSONRPCResponse;
}
