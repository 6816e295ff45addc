/**
 * Where the official SDK is held: all that is known of its insides is in this file.
 *
 * Of public interfaces it uses `connect` of a server, and `start`, `send` and `onmessage` of a
 * transport. Two members are not public, and each is looked for before anything is protected:
 * `buildContext` makes the context of a handler, and `_requestStateVerify` holds the option
 * `requestState.verify`.
 */

import type {
  AuthInfo,
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
  MessageExtraInfo,
  RequestId,
  Transport,
} from '@modelcontextprotocol/server';
import { invalidArgument } from '../error.js';

/** A server of the SDK: `McpServer`, or the low-level `Server`. */
export interface AnyServer {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

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

/** A handler's context, by which its request is known again. Every `ServerContext` is one. */
export interface HandlerContext {
  readonly mcpReq: { readonly signal: AbortSignal };
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
  /** The state, once it is known that `enter` has passed it, or that it never left the server. */
  verify(call: Call, state: string): unknown;
}

export type Passage = { readonly deliver: JSONRPCRequest } | { readonly answer: JSONRPCResponse };

interface Inside {
  readonly transport: Transport | undefined;
  _requestStateVerify: ((state: string, context: HandlerContext) => unknown) | undefined;
  buildContext(context: unknown, extra?: MessageExtraInfo): HandlerContext;
  connect(transport: Transport): Promise<void>;
}

/** Calls by what the SDK carries from the message to the handler's context, copies included. */
const callsBySignal = new WeakMap<AbortSignal, unknown>();

/** The call that a handler serves, if its server is protected. */
export function callOf(context: HandlerContext): unknown {
  const signal = context?.mcpReq?.signal;
  return signal === undefined ? undefined : callsBySignal.get(signal);
}

/**
 * Puts a boundary between a server and whatever transport it connects to.
 *
 * @throws {@link SealwaxError} `invalid_argument` where the server has a `requestState.verify` of
 * its own, or is none of the SDK's, or the SDK has changed inside
 */
export function intercept<Call>(server: AnyServer, boundary: Boundary<Call>): void {
  const inside = insideOf(server);
  const { buildContext, connect } = inside;
  const callsByExtra = new WeakMap<MessageExtraInfo, Call>();

  inside._requestStateVerify = (state, context) => {
    const call = callOf(context) as Call | undefined;
    // Not by way of a protected transport: then it was not opened either.
    if (call === undefined) throw invalidArgument('requestState: did not pass the guard');
    return boundary.verify(call, state);
  };
  inside.buildContext = function (context, extra) {
    const built = buildContext.call(this, context, extra);
    const call = extra && callsByExtra.get(extra);
    if (call !== undefined) callsBySignal.set(built.mcpReq.signal, call);
    return built;
  };
  inside.connect = async function (transport) {
    // Of a server that is connected already, the SDK's own error tells.
    if (this.transport === undefined) {
      stand(transport, boundary, (extra, call) => callsByExtra.set(extra, call));
    }
    return connect.call(this, transport);
  };
}

function insideOf(server: unknown): Inside {
  const given = Object(server);
  const inside = typeof given.server === 'object' ? Object(given.server) : given;
  const expected = (what: string) =>
    invalidArgument(
      `server: expected an McpServer or a Server of @modelcontextprotocol/server ${what}; ` +
        'see which versions this version of sealwax was tested with',
    );
  if (typeof inside.connect !== 'function') throw expected('2.x');
  if (typeof inside.buildContext !== 'function') throw expected('with a method buildContext');
  if (!('_requestStateVerify' in inside)) throw expected('with a member _requestStateVerify');
  if (inside._requestStateVerify !== undefined) {
    throw invalidArgument(
      'server: expected one without requestState.verify, which the guard does; leave the option out',
    );
  }
  if (inside.transport !== undefined) {
    throw invalidArgument('server: expected one not connected yet; protect it before connect');
  }
  return inside;
}

/** Stands in a transport's way. Its callbacks are set when it starts, so that is when we step in. */
function stand<Call>(
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

  transport.start = () => {
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
      if (!isRequest(message)) {
        // The SDK never answers what was cancelled.
        if (isCancellation(message)) calls.delete(message.params.requestId);
        return deliver?.(message, extra);
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
          calls.delete(id);
          return answer(passage.answer);
        }
        const linked = { ...extra };
        remember(linked, call);
        deliver?.(passage.deliver, linked);
      };
      const passage = boundary.enter(call);
      if (passage instanceof Promise) passage.then(pass, (error) => transport.onerror?.(error));
      else pass(passage);
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
    calls.delete(id);
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

function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return 'result' in message || 'error' in message;
}

function isCancellation(
  message: JSONRPCMessage,
): message is JSONRPCMessage & { params: { requestId: RequestId } } {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return false;
  return message.params !== undefined && 'requestId' in message.params;
}
