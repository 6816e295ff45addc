/**
 * Where the official SDK is held by its insides: all that is known of them is in this file.
 *
 * Beside what is public, two members of a server, each looked for before anything is protected:
 * `buildContext` makes the context of a handler, and `_requestStateVerify` holds the option
 * `requestState.verify`.
 */

import type {
  JSONRPCRequest,
  MessageExtraInfo,
  RequestId,
  StandardSchemaV1,
  Transport,
} from '@modelcontextprotocol/server';
import { invalidArgument } from '../error.js';
import { type Boundary, type Delivery, type Passing, type Receiver, stand } from './transport.js';

/** A server of the SDK: `McpServer`, or the low-level `Server`. */
export interface AnyServer {
  connect(transport: Transport): Promise<void>;
  close(): Promise<void>;
}

/** A handler's context, by which its request is known again. Every `ServerContext` is one. */
export interface HandlerContext {
  readonly mcpReq: { readonly signal: AbortSignal };
}

/** What a context is made of, as far as the guard has a say in it. */
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
  assertCanSetRequestHandler(method: string): void;
  setRequestHandler(
    method: string,
    schemas: { readonly params: StandardSchemaV1 },
    handler: (params: unknown, context: HandlerContext) => unknown,
  ): void;
}

/** Parameters of a method of ours have passed the boundary, which is stricter than a schema. */
const ANYTHING: StandardSchemaV1 = {
  '~standard': { version: 1, vendor: 'sealwax', validate: (value) => ({ value }) },
};

/** Calls by what the SDK carries from the message to the handler's context, copies included. */
const callsBySignal = new WeakMap<AbortSignal, unknown>();

/** A call as the SDK's hooks need it. */
interface Served extends Passing {
  state(): string | undefined;
  readonly own: Record<string, unknown>;
}

/** The call that a handler serves, if its server is protected. */
export function callOf(context: HandlerContext): unknown {
  const signal = context?.mcpReq?.signal;
  return signal === undefined ? undefined : callsBySignal.get(signal);
}

/**
 * Puts a boundary between a server and whatever transport it connects to, and serves the methods that
 * are the engine's own.
 *
 * @throws {@link SealwaxError} `invalid_argument` where the server has a `requestState.verify` of
 * its own, or is none of the SDK's, or the SDK has changed inside
 */
export function intercept<Call extends Served>(
  server: AnyServer,
  boundary: Boundary<Call>,
  methods: readonly string[],
): void {
  const inside = insideOf(server);
  const { buildContext, connect } = inside;
  const deliveries = new WeakMap<MessageExtraInfo, Delivery<Call>>();
  const receiver: Receiver<Call> = {
    serves: (method) => inside.fallbackRequestHandler !== undefined || hasHandler(inside, method),
    expect: (extra, delivery) => deliveries.set(extra, delivery),
  };

  // The text is that of `requestState` below, or, where the SDK asks the user back by itself, what
  // the handler has just returned, which never left the server.
  inside._requestStateVerify = (state, context) => {
    // Not by way of a protected transport: then it was not opened either.
    if (!isProtected(context)) throw invalidArgument('requestState: did not pass the guard');
    return parsed(state);
  };
  inside.buildContext = function (context, extra) {
    const delivery = extra && deliveries.get(extra);
    if (delivery === undefined) return buildContext.call(this, context, extra);
    const { call, id } = delivery;
    const mcpReq = { ...context.mcpReq, id, requestState: () => call.state() };
    const built = buildContext.call(this, { ...context, mcpReq }, extra);
    callsBySignal.set(built.mcpReq.signal, call);
    delivery.taken(built.mcpReq.signal);
    return built;
  };
  inside.connect = async function (transport) {
    // Of a server that is connected already, the SDK's own error tells.
    if (this.transport === undefined) stand(transport, boundary, receiver);
    return connect.call(this, transport);
  };
  showClientsId(inside);
  for (const method of methods) {
    const own = (_: unknown, context: HandlerContext) => (callOf(context) as Call).own;
    inside.setRequestHandler(method, { params: ANYTHING }, own);
  }
}

/** The SDK hands this one handler the whole message, which has an id of ours. */
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

function hasHandler(inside: Inside, method: string): boolean {
  try {
    inside.assertCanSetRequestHandler(method);
    return false;
  } catch {
    return true;
  }
}

function isProtected(context: HandlerContext): boolean {
  return callOf(context) !== undefined;
}

/** What the guard wrote is JSON; another's text is handed over as it is. */
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
