/**
 * The hooks into the official SDK. Only this file uses members that are not public.
 *
 * There are two of them, and `protect` checks that both exist: `buildContext` creates the context of a
 * handler, and `_requestStateVerify` holds the option `requestState.verify`.
 */

import type {
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/server';
import { invalidArgument } from '../../error.js';
import type { Policy } from '../policy.js';
import { clientId } from '../transport/ids.js';
import { type Delivery, intercept } from '../transport/intercept.js';
import type { Call } from './call.js';

/** A server of the SDK: `McpServer` or the low-level `Server`. */
export interface AnyServer {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** A handler's context, which identifies its request. Every `ServerContext` is one. */
export interface HandlerContext {
  readonly mcpReq: { readonly signal: AbortSignal };
}

/** The members of a context that the guard sets. */
interface Base {
  readonly mcpReq: { readonly id: RequestId; readonly requestState: () => unknown };
}

type Fallback = (request: JSONRPCRequest, context: HandlerContext & Base) => unknown;

interface Inside {
  readonly transport: Transport | undefined;
  fallbackRequestHandler?: Fallback | undefined;
  _requestStateVerify: ((state: string, context: HandlerContext) => unknown) | undefined;
  buildContext(context: Base, extra?: MessageExtraInfo): HandlerContext;
  connect(transport: Transport): Promise<void>;
  _getRequestHandler(method: string): unknown;
  setRequestHandler(
    method: string,
    schemas: { readonly params: StandardSchemaV1 },
    handler: (params: unknown, context: HandlerContext) => unknown,
  ): void;
}

/** A schema for our own methods: the engine has checked their parameters already. */
const ANYTHING: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'sealwax', validate: (value) => ({ value }) },
};

/** Calls by their signal, which the SDK passes to the handler's context and to its copies. */
const callsBySignal = new WeakMap<AbortSignal, Call>();

/** Returns the call of a handler's context, if its server is protected. */
export function callOf(context: HandlerContext): Call | undefined {
  const signal = context?.mcpReq?.signal;
  return signal && callsBySignal.get(signal);
}

/**
 * Hooks a guard between a server and its transport, and registers the methods that the engine implements.
 *
 * @throws {@link SealwaxError} `invalid_argument` for a server with a `requestState.verify` of its own, or
 * one of an unsupported SDK
 */
export function hook(server: AnyServer, policy: Policy, methods: readonly string[]): void {
  const inside = insideOf(server);
  const { buildContext, connect } = inside;
  const deliveries = new WeakMap<MessageExtraInfo, Delivery>();
  const serves = (method: string) =>
    (inside.fallbackRequestHandler ?? inside._getRequestHandler(method)) !== undefined;

  // The text comes from `requestState` below. If the SDK asks for input by itself, it is the one that the
  // handler has just returned, which never left the server.
  inside._requestStateVerify = (state, context) => {
    const call = callOf(context);
    // Without a protected transport, the guard has not opened it.
    if (call === undefined) throw invalidArgument('requestState: the guard has not opened it');
    return parsed(call.unsealed(state));
  };
  inside.buildContext = function (context, extra) {
    const delivery = extra && deliveries.get(extra);
    if (delivery === undefined) return buildContext.call(this, context, extra);
    const { call } = delivery;
    const id = clientId(delivery.id);
    const mcpReq = { ...context.mcpReq, id, requestState: () => call.state() };
    const built = buildContext.call(this, { ...context, mcpReq }, extra);
    callsBySignal.set(built.mcpReq.signal, call);
    delivery.taken(built.mcpReq.signal);
    return built;
  };
  inside.connect = async function (transport) {
    // If the server is already connected, the SDK throws.
    if (this.transport === undefined) intercept(transport, policy, { serves, deliveries });
    return connect.call(this, transport);
  };
  showClientsId(inside);
  for (const method of methods) {
    const builtin = (_: unknown, context: HandlerContext) => callOf(context)?.builtinResult;
    inside.setRequestHandler(method, { params: ANYTHING }, builtin);
  }
}

/** Restores the client's id for the fallback handler, to which the SDK passes the whole message. */
function showClientsId(inside: Inside): void {
  let given = inside.fallbackRequestHandler;
  const handler: Fallback = (request, context) =>
    given?.({ ...request, id: context.mcpReq.id }, context);
  Object.defineProperty(inside, 'fallbackRequestHandler', {
    ...{ configurable: true, enumerable: true },
    get: () => given && handler,
    set(fallback: Fallback | undefined) {
      given = fallback;
    },
  });
}

/** Parses a state that the handler returned; `undefined` for a text of its own. */
function parsed(state: string): unknown {
  try {
    return JSON.parse(state);
  } catch {
    return undefined;
  }
}

function insideOf(server: unknown): Inside {
  const given = Object(server);
  const inside = typeof given.server === 'object' ? Object(given.server) : given;
  const expected = (what: string) =>
    invalidArgument(
      `server: expected an McpServer or a Server of @modelcontextprotocol/server ${what}; ` +
        'sealwax names as its peer dependency which of them it knows',
    );
  if (typeof inside.connect !== 'function') throw expected('2.x');
  for (const method of ['buildContext', '_getRequestHandler']) {
    if (typeof inside[method] !== 'function') throw expected(`with a method ${method}`);
  }
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
