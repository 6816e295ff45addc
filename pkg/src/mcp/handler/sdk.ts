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
import { DELIVERY, intercept, type Linked } from '../transport/intercept.js';
import { type Call, parsed } from './call.js';

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
  readonly mcpReq: { id: RequestId; requestState: () => unknown };
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

/** The call, on its signal, which the SDK passes to the handler's context and to its copies. */
const CALL = Symbol('sealwax call');

interface Marked {
  [CALL]?: Call;
}

/** Returns the call of a handler's context, if its server is protected. */
export function callOf(context: HandlerContext): Call | undefined {
  return (context?.mcpReq?.signal as Marked | undefined)?.[CALL];
}

/**
 * Hooks a guard between a server and its transport, with the methods that the engine implements.
 *
 * @throws {@link SealwaxError} `invalid_argument` for a server with a `requestState.verify` of its own, or
 * one of an unsupported SDK
 */
export function hook(server: AnyServer, policy: Policy, methods: readonly string[]): void {
  const inside = insideOf(server);
  const { buildContext, connect } = inside;
  inside._requestStateVerify = verify;
  inside.buildContext = function (context, extra) {
    const { [DELIVERY]: delivery } = (extra ?? {}) as Linked;
    if (delivery === undefined) return buildContext.call(this, context, extra);
    const { call, id } = delivery;
    // The SDK made this context for this request.
    context.mcpReq.id = clientId(id);
    context.mcpReq.requestState = () => call.state();
    const built = buildContext.call(this, context, extra);
    delivery.signal = built.mcpReq.signal;
    (delivery.signal as Marked)[CALL] = call;
    return built;
  };
  inside.connect = async function (transport) {
    // If the server is already connected, the SDK throws.
    if (this.transport === undefined) {
      intercept(transport, policy, (method) => serves(inside, methods, method));
    }
    return connect.call(this, transport);
  };
  for (const method of methods) {
    if (inside._getRequestHandler(method) !== undefined) register(inside, method);
  }
}

/** Registers a method that the engine implements. */
function register(inside: Inside, method: string): void {
  inside.setRequestHandler(method, { params: ANYTHING }, builtin);
}

/**
 * The text comes from `requestState` of the context. If the SDK asks for input by itself, it is the one that the handler
 * has just returned, which never left the server.
 */
function verify(state: string, context: HandlerContext): unknown {
  const call = callOf(context);
  // Without a protected transport, the guard has not opened it.
  if (call === undefined) throw invalidArgument('requestState: the guard has not opened it');
  return parsed(call.unsealed(state));
}

function builtin(_: unknown, context: HandlerContext): unknown {
  return callOf(context)?.builtinResult;
}

/**
 * Whether a server has a handler for a method. One of `methods` gets its own only now: a server for each request needs
 * few of them. The fallback handler, of the whole message, then gets the client's id.
 */
function serves(inside: Inside, methods: readonly string[], method: string): boolean {
  const isServed = inside._getRequestHandler(method) !== undefined;
  if (!isServed && methods.includes(method)) {
    register(inside, method);
    return true;
  }
  const given = inside.fallbackRequestHandler;
  if (given === undefined) return isServed;
  if (!showing.has(given)) {
    const shown: Fallback = (request, context) =>
      given({ ...request, id: context.mcpReq.id }, context);
    showing.add(shown);
    inside.fallbackRequestHandler = shown;
  }
  return true;
}

/** The fallback handlers that get the client's id. */
const showing = new WeakSet<Fallback>();

const OTHER_MAJOR =
  '2.x, found one of another major version, such as of @modelcontextprotocol/sdk 1.x; install ' +
  '@modelcontextprotocol/server, and import McpServer from there';

function insideOf(server: unknown): Inside {
  const given = Object(server);
  const inside = typeof given.server === 'object' ? Object(given.server) : given;
  const expected = (what: string) =>
    invalidArgument(
      `server: expected an McpServer or a Server of @modelcontextprotocol/server ${what}; ` +
        'sealwax names as its peer dependency which of them it knows',
    );
  if (typeof inside.connect !== 'function') throw expected('2.x');
  // Such as of @modelcontextprotocol/sdk 1.x, which has neither.
  if (!('buildContext' in inside) && !('_requestStateVerify' in inside))
    throw expected(OTHER_MAJOR);
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
