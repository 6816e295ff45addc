/**
 * Where messages pass: all of it public interface of the SDK, which says that a transport's
 * callbacks are set before it starts, and that all that leaves is sent by it.
 */

import type {
  AuthInfo,
  JSONRPCMessage,
  JSONRPCNotification,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  RequestId,
  Transport,
} from '@modelcontextprotocol/server';

/**
 * What is known of a request before its handler runs: of the SDK's `ServerContext` these two
 * members, so that a function written for a handler's context serves here as well.
 */
export interface RequestContext {
  /** The transport's session, where it has one. */
  readonly sessionId?: string | undefined;
  /** What came by HTTP: who was authenticated, and the request with its headers. */
  readonly http?: {
    readonly authInfo?: AuthInfo | undefined;
    readonly req?: Request | undefined;
  };
}

/** What stands between the wire and the handlers of a protected server. */
export interface Boundary<Call> {
  /** A call for each request that comes in. */
  call(request: JSONRPCRequest, context: RequestContext): Call;
  /**
   * Before the handler: the request that it shall see, or what answers in its stead. What is given
   * without a promise is delivered at once, as the SDK's transports deliver.
   */
  enter(call: Call): Passage | Promise<Passage>;
  /** After the handler: what goes to the client. */
  leave(call: Call, response: JSONRPCResponse): Promise<JSONRPCResponse>;
  /** It was answered: nothing comes of it any more. */
  left(call: Call): void;
  /** Whether a notification may pass; one that may not is dropped, for nothing answers it. */
  notified(notification: JSONRPCNotification, context: RequestContext): boolean | Promise<boolean>;
  /** The methods that the boundary has of its own: what they give, once they have entered. */
  readonly methods: Readonly<Record<string, (call: Call) => Record<string, unknown>>>;
  /** What a handler reads of a state that has entered, or that has never left the server. */
  read(call: Call, state: string): unknown;
}

export type Passage = { readonly deliver: JSONRPCRequest } | { readonly answer: JSONRPCResponse };

/**
 * Stands in a transport's way, from when it starts.
 *
 * @param remember is told which call a message's `extra` belongs to, before it is delivered
 */
export function stand<Call>(
  transport: Transport,
  boundary: Boundary<Call>,
  remember: (extra: MessageExtraInfo, call: Call) => void,
): void {
  const start = transport.start.bind(transport);
  const send = transport.send.bind(transport);
  const calls = new Map<RequestId, Call>();

  const answer = (response: JSONRPCResponse) => {
    send(response).catch((error) => transport.onerror?.(error));
  };

  const forget = (id: RequestId) => {
    const call = calls.get(id);
    if (calls.delete(id)) boundary.left(call as Call);
  };
  /** At once, where that can be. */
  const after = <T>(value: T | Promise<T>, then: (value: T) => void) => {
    if (!(value instanceof Promise)) return then(value);
    value.then(then).catch((error) => transport.onerror?.(error));
  };

  transport.start = () => {
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if (!isRequest(message)) {
        if (!isNotification(message)) return deliver?.(message, extra);
        return after(boundary.notified(message, contextOf(transport, extra)), (may) => {
          if (!may) return;
          // The SDK never answers what was cancelled.
          if (isCancellation(message)) calls.delete(message.params.requestId);
          deliver?.(message, extra);
        });
      }
      const { id } = message;
      // Two requests of one id at a time: an answer could be sealed for the other one.
      if (calls.has(id)) {
        const error = { code: -32600, message: 'Invalid request: its id is in use' };
        return answer({ jsonrpc: '2.0', id, error });
      }
      const call = boundary.call(message, contextOf(transport, extra));
      calls.set(id, call);
      const pass = (passage: Passage) => {
        if (calls.get(id) !== call) return; // cancelled
        if ('answer' in passage) {
          forget(id);
          return answer(passage.answer);
        }
        const linked = { ...extra };
        remember(linked, call);
        deliver?.(passage.deliver, linked);
      };
      after(boundary.enter(call), pass);
    };
    return start();
  };

  transport.send = async (message, options) => {
    if (!isResponse(message)) return send(message, options);
    const { id } = message;
    const call = id === undefined ? undefined : calls.get(id);
    if (id === undefined || call === undefined) {
      // An answer to what was cancelled: nobody waits for it, and nothing could seal it.
      return 'error' in message ? send(message, options) : undefined;
    }
    const sealed = await boundary.leave(call, message);
    if (calls.get(id) !== call) return; // cancelled
    forget(id);
    return send(sealed, options);
  };
}

function contextOf(transport: Transport, extra: MessageExtraInfo | undefined): RequestContext {
  const { authInfo, request } = extra ?? {};
  const http = authInfo || request ? { http: { authInfo, req: request } } : {};
  return { sessionId: transport.sessionId, ...http };
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

function isCancellation(
  message: JSONRPCNotification,
): message is JSONRPCNotification & { params: { requestId: RequestId } } {
  if (message.method !== 'notifications/cancelled') return false;
  return message.params !== undefined && 'requestId' in message.params;
}
