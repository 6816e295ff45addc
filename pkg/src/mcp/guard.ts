import { Codec } from '../codec.js';
import type { Settings } from '../documents.js';
import { invalidArgument } from '../error.js';
import { checked, count, flag, optional, text, wrongClass, wrongType } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { type Logger, standard, write } from '../log.js';
import { core } from '../module.js';
import { anonymous, type Principal, partsOf } from '../principal.js';
import { Caller } from './caller.js';
import { Engine, written } from './engine.js';
import type { Call, Handled } from './handler/exchange.js';
import { Links } from './handler/links.js';
import { referenceOf } from './handler/reference.js';
import { ReferenceHandles } from './handler/reference-handles.js';
import { guardTransport } from './handler/sdk.js';
import { SelfContainedHandles } from './handler/self-contained-handles.js';
import { DataLayerSessions, names, type SessionsOptions, sessionsOf } from './handler/sessions.js';
import { type Hooks, reportError } from './hooks.js';
import type { Ledger, LedgerOptions } from './ledger/ledger.js';
import type { Policy, PrincipalOf, QuestionOf } from './policy.js';
import type { AnyServer, HandlerContext, Transport } from './sdk-types.js';
import {
  type FetchHandler,
  failure,
  type HttpSessionsOptions,
  withSessions,
} from './transport/http.js';
import { type WrittenResponse, wrapListener } from './transport/listener.js';
import type { Negotiated } from './transport/negotiated.js';
import { listenerOf, type NodeListener, type NodeRequest } from './transport/node.js';

/** Settings of a {@link Guard}. */
export interface GuardOptions {
  /** The codec that seals and opens, with the keys and the audience of the service. */
  readonly codec: Codec;
  /**
   * Resolves the caller, at most once per request; {@link principalFromAuthInfo} reads the SDK's `AuthInfo`.
   * Returning nothing refuses the request. A server without authentication sets `'anonymous'`: then anyone
   * who holds a token can use it.
   */
  readonly principal: PrincipalOf | 'anonymous';
  /** Receives every refusal, and every failure to seal. */
  readonly onRefused?: Hooks['onRefused'] | undefined;
  /** Receives whatever was opened, sealed, ended or revoked; `instruments` of `sealwax/otel` makes metrics of it. */
  readonly onEvent?: Hooks['onEvent'] | undefined;
  /** Receives a line and its fields for each refusal: by default `console`, with the time and the level. */
  readonly logger?: Logger | undefined;
  /**
   * How many seconds the `ledger` may take per request: 1 by default, at most 60. One command may take three tenths
   * of it.
   */
  readonly timeLimit?: number | undefined;
  /**
   * Records used tokens, ended sessions and the latest state of each session. With it a `requestState` is
   * accepted once, ended sessions and handles are refused, and of two concurrent writes of a session one
   * succeeds and the other is told so.
   */
  readonly ledger?: Ledger | undefined;
  /** Settings of the ledger. */
  readonly ledgerOptions?: LedgerOptions | undefined;
  /** The lifetime of a `requestState`, in seconds: 600 by default. */
  readonly requestStateTtl?: number | undefined;
  /** How long a user may take to confirm, in seconds: 600 by default. */
  readonly confirmTtl?: number | undefined;
  /**
   * The arguments that a `requestState` is bound to, by the name of the tool or prompt: all by default. A
   * request that has none of them cannot be bound.
   */
  readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
}

const ANONYMOUS_BESIDE_USERS =
  'SECURITY: the principal is anonymous, but a request came with authInfo: what this guard seals for one ' +
  'user opens for every other. Set the option principal: principalFromAuthInfo';

/** @internal */
export let policyOf: (guard: unknown) => Policy;

/**
 * Protects a server: it seals each `requestState` and `nextCursor` that the handlers return, and opens and
 * checks those that clients send back, before a handler runs.
 *
 * A `requestState` is bound to its request: the method, the target, the arguments and the caller. A cursor
 * is bound to its list and the caller, or to its list only if `cacheScope` makes the page public, because
 * caches serve such a page to every user. A refused token gets the fixed answer of its kind, and the handler
 * does not run.
 *
 * Without a `ledger` a token can be used any number of times until it expires. {@link MemoryLedger} is for
 * one process, {@link SqliteLedger} for one machine, {@link RedisLedger} for several.
 *
 * @example
 * ```js
 * import { inputRequired, McpServer } from '@modelcontextprotocol/server';
 * import { Codec, Key, KeyRing } from 'sealwax';
 * import { Guard, principalFromAuthInfo } from 'sealwax/mcp';
 *
 * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
 * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
 * const guard = new Guard({ codec, principal: principalFromAuthInfo });
 *
 * const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
 * server.registerTool('clear', {}, async (ctx) => {
 *   if (guard.opened(ctx)?.asked) return { content: [{ type: 'text', text: 'cleared' }] };
 *   return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
 * });
 * console.log(server instanceof McpServer); // true
 * ```
 */
export class Guard {
  readonly #policy: Handled;
  readonly #codec: Codec;
  #settings: Settings;
  #isProtecting = false;

  static {
    policyOf = (guard) => {
      if (!(guard instanceof Guard)) throw wrongClass('guard', 'Guard', guard);
      return guard.#policy;
    };
  }

  readonly #callOf = (context: HandlerContext): Call => {
    const call = this.#policy.calls.get(referenceOf(context));
    if (call) return call;
    throw invalidArgument(
      'context: expected that of a request in progress at a server that this guard protects; ' +
        'call guard.protect(server) before it connects',
    );
  };

  /** @throws `TypeError` for a missing option or one of the wrong type; {@link SealwaxError} */
  constructor(given: GuardOptions) {
    const {
      codec = codecOf('codec', undefined),
      principal = callerOf('principal', undefined),
      timeLimit = 1,
      logger = standard,
      ...rest
    } = checked(given, OPTIONS);
    const { onRefused, onEvent, ledger, ledgerOptions, requestStateTtl, confirmTtl, only } = rest;
    if (ledger === undefined && ledgerOptions !== undefined) {
      throw invalidArgument('ledgerOptions: expected a ledger too, found none');
    }
    const common: Settings = {
      events: onEvent !== undefined,
      ledger: ledger && { local: optional(flag, 'ledger.local', ledger.local), ...ledgerOptions },
      timeLimitMs: Math.ceil(1000 * timeLimit),
    };
    this.#codec = codec;
    this.#settings = { ...common, requestStateTtl, confirmTtl, only };
    const warn = (line: string) => write(logger, `sealwax: ${line}`);
    this.#policy = {
      ...{ principalOf: principal, ledger, onRefused, onEvent, logger },
      initial: undefined,
      ...{ known: new Map(), calls: new Map(), questions: new Map(), confirms: false },
      engine: new Engine(codec, this.#settings),
      transportOf: (transport) => new Engine(codec, { ...common, transport }),
      warnOfUser: once(() => warn(ANONYMOUS_BESIDE_USERS)),
      warnOfLedger: once(() => {
        for (const warning of ledger?.warnings ?? []) warn(`ledger: ${warning}`);
      }),
    };
  }

  /**
   * Protects a server of either major of the SDK and returns it. Call it before the server connects; a factory that creates a
   * server for each request protects each of them. What it throws is logged too, because `createMcpHandler` answers 500 to
   * what its factory throws, and says nothing.
   *
   * The handlers get the sealed `requestState`, which says nothing to them: {@link Guard.opened} reads it.
   *
   * @throws {@link SealwaxError} `invalid_argument` for one that is connected, that another guard protects, or that is none
   */
  protect<S extends AnyServer>(server: S): S {
    const { server: low = server } = Object(server) as { server?: AnyServer };
    if (protectors.get(low) === this) return server;
    try {
      assertProtectable(low);
    } catch (error) {
      const message = `protect: ${(error as Error).message}`;
      const found = { code: 'invalid_argument', kind: 'request-state', message } as const;
      reportError(this.#policy, found, error);
      throw error;
    }
    const { connect } = low;
    low.connect = (transport: Transport) => {
      // If the server is already connected, the SDK throws.
      if (transportOf(low) === undefined) guardTransport(transport, this.#policy);
      return connect.call(low, transport as never);
    };
    protectors.set(low, this);
    this.#isProtecting = true;
    return server;
  }

  /**
   * Revokes every token that a principal has until now. A user who signs in within the ledger's clock tolerance
   * after it (5 seconds by default) has to sign in again. `ledger_unconfirmed` is logged if no replica of the
   * store confirmed it.
   *
   * @param retainFor how many seconds the ledger keeps the record: at least the longest lifetime of the
   * service's tokens, now or later; 400 days by default, longer than anything lives
   * @throws {@link SealwaxError} `invalid_argument` without a ledger; an `Error` if the ledger did not record it
   */
  async revoke(principal: Principal, retainFor?: number): Promise<void> {
    partsOf(principal);
    const exchange = this.#policy.engine.revoke(principal, optional(count, 'retainFor', retainFor));
    const step = await new Caller(this.#policy, {}, {}, { principal }).finish(exchange);
    if (step.step !== 'done') throw new Error(step.refused?.at(-1)?.message);
  }

  /**
   * Seals a value and returns the token: the `requestState` of `inputRequired`, in a handler of a protected server.
   * {@link Guard.opened} returns the value in the next request.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server, in a method that carries
   * no `requestState`, and for a value that JSON cannot hold; `too_large`, `entropy_unavailable`
   */
  state(context: HandlerContext, value: unknown): string {
    return this.#callOf(context).sealed(value);
  }

  /**
   * Returns the value of {@link Guard.state} from the round before, opened and checked; `undefined` in the first. A state that
   * is a text of your own comes back as it is. For clients of revisions before 2026-07-28 the SDK asks for the input by itself
   * and calls the handler again, within one request: then this is what the handler has just sealed.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server, and in a method that carries no
   * `requestState`
   */
  opened<T = unknown>(context: HandlerContext): T | undefined {
    return this.#callOf(context).opened(context) as T | undefined;
  }

  /**
   * Is the option `requestState.verify` of a server of 2.x, for handlers that read `ctx.mcpReq.requestState()`: so it gives
   * what {@link Guard.opened} does. Nobody else calls it.
   *
   * @throws {@link SealwaxError} as {@link Guard.opened}
   */
  readonly verify = (state: string, context: HandlerContext): unknown =>
    this.#callOf(context).verified(state);

  /**
   * Returns a key for an API that does a thing once for each, such as in the header `Idempotency-Key`: 32 letters and digits, the
   * same at every retry of a request, different for every user, confirmation and state. A call without a confirmation or a
   * `requestState` has the same key whenever it is made again with the same arguments.
   *
   * @throws {@link SealwaxError} `invalid_argument` as {@link Guard.opened}
   */
  idempotencyKey(context: HandlerContext): string {
    return this.#callOf(context).idempotencyKey();
  }

  /**
   * Returns the id of the session, to key rows of your own: verified, and the same for the session's whole life. It is that of a
   * data-layer session, or of `Mcp-Session-Id` behind {@link Guard.fetch} and its like; `undefined` for a request without.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  sessionId(context: HandlerContext): string | undefined {
    return this.#callOf(context).sessionId;
  }

  /**
   * Runs a tool only for a call that its user confirmed: the handler needs no code for it. A client of 2026-07-28 that elicits
   * is asked by `input_required`, an earlier one by `elicitation/create` on its connection, one that shows the pages of servers
   * (MCP Apps) by a card; for others the tool does not run.
   * The confirmation is bound to user, tool, arguments and question, and counts for ten minutes; with a `ledger` it counts once.
   *
   * @param tool its name
   * @param question a text, with arguments of the call in braces, as JSON; `{{` is a brace. Or a function that makes it
   * @param options.fallback what becomes of a call whose user cannot be asked: `refuse`, the default; or `preview`, the model asks
   * and brings the answer, which proves no consent
   * @throws {@link SealwaxError} `invalid_argument` for a question with other braces, and after `protect`
   *
   * @example
   * ```js
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous' });
   * guard.confirm('delete_note', 'Delete note {id}?');
   * guard.confirm('empty', async ({ folder }) => `Delete all notes in ${JSON.stringify(folder)}?`);
   * console.log(guard instanceof Guard); // true
   * ```
   */
  confirm<Arguments = Readonly<Record<string, unknown>>>(
    tool: string,
    question: string | QuestionOf<Arguments>,
    options: { readonly fallback?: 'refuse' | 'preview' | undefined } = {},
  ): this {
    const isText = typeof question === 'string';
    if (!isText) method('question', question, 'a text or a function');
    const confirm = {
      ...this.#settings.confirm,
      [text('tool', tool)]: {
        ...(isText && { message: question }),
        ...checked(options, { fallback: text }),
      },
    };
    this.#confirms({ confirm });
    if (!isText) this.#policy.questions.set(tool, question as QuestionOf);
    return this;
  }

  /**
   * Runs each tool that the server's own `tools/list` marks as destructive as {@link Guard.confirm} does: each one unless its
   * annotations have a `readOnlyHint` of true or a `destructiveHint` of false. The user is asked `Run {tool} with {arguments}?`.
   *
   * @param options.fallback as that of {@link Guard.confirm}
   * @throws {@link SealwaxError} `invalid_argument` after `protect`
   */
  confirmDestructive(options: { readonly fallback?: 'refuse' | 'preview' | undefined } = {}): this {
    this.#confirms({ confirmDestructive: checked(options, { fallback: text }) });
    return this;
  }

  #confirms(more: Settings): void {
    if (this.#isProtecting) throw invalidArgument('confirm: expected before guard.protect(server)');
    this.#add(more);
    this.#policy.confirms = true;
  }

  /** Begins an engine with more settings, which count once it has accepted them. */
  #add(more: Settings): void {
    const settings = { ...this.#settings, ...more };
    this.#policy.engine = new Engine(this.#codec, settings);
    this.#settings = settings;
  }

  /**
   * Adds data-layer sessions to every server that is protected afterwards: the capability, the method
   * `sessions/create`, and one value for each session. `sessions/delete` needs a `ledger`;
   * without one the method does not exist.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a second call, or one after `protect`
   */
  sessions<T = unknown>(given: SessionsOptions<T>): DataLayerSessions<T> {
    const { initial, settings: sessions } = sessionsOf(given);
    if (this.#isProtecting || this.#settings.sessions) {
      throw invalidArgument('sessions: expected once, and before guard.protect(server)');
    }
    this.#add({ sessions });
    this.#policy.initial = initial;
    return new DataLayerSessions<T>(this.#callOf);
  }

  /**
   * Adds sessions of the revisions up to 2025-11-25 to a stateless handler, such as `fetch` of
   * `createMcpHandler`. The response to `initialize` carries an `Mcp-Session-Id` that holds the negotiated
   * values, and each later request sends it, to any replica. Requests of revision 2026-07-28 pass unchanged.
   *
   * A request without it gets 400. A refused one gets 404, so that the client starts a new session. `DELETE`
   * ends the session if there is a `ledger`; otherwise it gets 405.
   *
   * No replica holds a connection to the client. In these revisions a tool therefore cannot call the client
   * while it runs (elicitation, sampling, roots); in 2026-07-28 it returns `inputRequired` instead. The server
   * can send notifications only within a response.
   */
  fetch(handler: FetchHandler, given: HttpSessionsOptions = {}): FetchHandler {
    const wrap = this.#sessionsOf(given);
    method('handler', handler);
    return wrap(handler);
  }

  /** Checks settings, and returns what wraps a handler. */
  #sessionsOf(given: HttpSessionsOptions): (handler: FetchHandler) => FetchHandler {
    const settings = checked(given, {
      required: flag,
      ttl: checkTtl,
      idle: checkTtl,
      onLost,
      sep1359: flag,
    });
    const engine = this.#policy.transportOf(settings);
    return (handler) => withSessions(handler, this.#policy, engine);
  }

  /**
   * Makes a listener of Node's HTTP, or a handler of Express, of a handler of web-standard requests. It reads a request once,
   * and hands the message over, where the SDK's `toNodeHandler` has it read again. `request.auth` is the `authInfo`, and
   * `request.body` the message, if others set them before.
   *
   * @example
   * ```js
   * import { createServer } from 'node:http';
   * import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous' });
   * const notes = () => guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
   *
   * const listener = guard.node(guard.fetch(createMcpHandler(notes).fetch));
   * console.log(createServer(listener).listening); // false
   * ```
   */
  node(handler: FetchHandler): NodeListener {
    method('handler', handler);
    return listenerOf(handler, (cause) => failure(this.#policy, cause));
  }

  /**
   * Adds to a listener of Node's HTTP, or a handler of Express, what {@link Guard.fetch} adds to a handler of web-standard
   * requests: for the transports of `@modelcontextprotocol/sdk`. The listener finds the message in `request.body`.
   *
   * @example
   * ```js
   * import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
   * import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous' });
   *
   * const listener = guard.listener(async (request, response) => {
   *   const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
   *   const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
   *   await server.connect(transport);
   *   await transport.handleRequest(request, response, request.body);
   * });
   * console.log(typeof listener); // function
   * ```
   */
  // Those of the framework, where TypeScript finds them out.
  // biome-ignore lint/suspicious/noExplicitAny: Express tells a handler's types by overloads, which are no inference
  listener<From extends NodeRequest = any, To extends WrittenResponse = any>(
    listener: (request: From, response: To) => unknown,
    given: HttpSessionsOptions = {},
  ): (request: From, response: To) => Promise<void> {
    method('listener', listener);
    const wrap = this.#sessionsOf(given);
    return wrapListener(listener, wrap, (cause) => failure(this.#policy, cause));
  }

  /**
   * Returns the values negotiated at `initialize`, in a handler behind {@link Guard.fetch}; `undefined` for a
   * request without such a session.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  negotiated(context: HandlerContext): Negotiated | undefined {
    return this.#callOf(context).negotiated;
  }

  /**
   * Returns the reference handles of a type, each the key of a row. The type is a lowercase letter, then up to 31
   * lowercase letters or digits.
   *
   * @param given `maxAge`: the lifetime of a handle in seconds; by default that of its key
   */
  referenceHandles(
    type: string,
    given: { readonly maxAge?: number | undefined } = {},
  ): ReferenceHandles {
    const { maxAge } = checked(given, { maxAge: maxAgeOf });
    return new ReferenceHandles(this.#callOf, handleType(type), maxAge);
  }

  /**
   * Returns the self-contained handles of a type, which hold their state.
   *
   * @param given `ttl`: the lifetime of each handle in seconds, 24 hours by default; `maxAge`: the maximum age
   * of the first and all its successors; `singleUse`: a handle can be renewed once, which needs a `ledger`
   */
  selfContainedHandles<T = unknown>(
    type: string,
    given: {
      readonly ttl?: number | undefined;
      readonly maxAge?: number | undefined;
      readonly singleUse?: boolean | undefined;
    } = {},
  ): SelfContainedHandles<T> {
    const { singleUse: once, ...times } = checked(given, {
      ...{ ttl: checkTtl, maxAge: maxAgeOf, singleUse: flag },
    });
    return new SelfContainedHandles<T>(this.#callOf, { type: handleType(type), once, ...times });
  }

  /**
   * Returns the links of a name: a lowercase letter, then up to 31 lowercase letters or digits. Any replica seals and opens them.
   *
   * @param given `ttl`: the lifetime of each in seconds, 24 hours by default; `once`: each is good once, which needs a `ledger`
   *
   * @example
   * ```js
   * import { Codec, Key, KeyRing } from 'sealwax';
   * import { Guard, LinkRefused } from 'sealwax/mcp';
   *
   * const keys = new KeyRing([Key.generate()]); // a server has Codec.fromEnv
   * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
   * const guard = new Guard({ codec, principal: 'anonymous', logger: { warn() {} } });
   * const reports = guard.links('report', { ttl: 900 });
   * // In a tool: `https://mcp.example.com/reports/${await reports.seal(ctx, { id: 7 })}`. At its route:
   * await reports.open('no link').catch((error) => console.log(error instanceof LinkRefused, error.status)); // true 404
   * ```
   */
  links<T = unknown>(
    name: string,
    given: { readonly ttl?: number | undefined; readonly once?: boolean | undefined } = {},
  ): Links<T> {
    const options = checked(given, { ttl: checkTtl, once: flag });
    return new Links<T>(this.#callOf, this.#policy, { type: handleType(name), ...options });
  }

  /**
   * Returns a cursor for the result of a tool: the next call has it in the argument `cursor`, and {@link Guard.position} opens it
   * there, for the same user, tool and other arguments.
   *
   * @param position where the next page begins, as JSON
   * @param given as {@link Guard.position}; `ttl`: its lifetime in seconds, 24 hours by default
   * @throws {@link HandleRefused} for arguments that nothing can be bound to, and a position that is too large or no JSON
   */
  async cursor(
    context: HandlerContext,
    position: unknown,
    given: PageOptions & { readonly ttl?: number | undefined } = {},
  ): Promise<string> {
    const { argument: type = 'cursor', ...more } = checked(given, { ...PAGE, ttl: checkTtl });
    const made = await this.#callOf(context).handle(
      { ...more, op: 'cursor', type },
      written(position),
    );
    return made.handle as string;
  }

  /**
   * Returns the position of the cursor that a call of a tool brought; `undefined` for the first page. What no guard could have made
   * is the first page too: models fill in every argument that they know of.
   *
   * @throws {@link HandleRefused} for a cursor that was altered, has expired, or is of another user, tool, call or list
   */
  async position<T = unknown>(
    context: HandlerContext,
    given: PageOptions = {},
  ): Promise<T | undefined> {
    const { argument: type = 'cursor', list } = checked(given, PAGE);
    const { value } = await this.#callOf(context).handle({ op: 'position', type, list });
    return value && JSON.parse(value);
  }
}

/** Settings of a cursor in a tool's result. */
export interface PageOptions {
  /** The argument that carries the cursor: `cursor` by default. */
  readonly argument?: string | undefined;
  /** What the list is made of, such as its version: a cursor of another list is refused. */
  readonly list?: string | undefined;
}

const PAGE = { argument: text, list: text };

/** The guards of low-level servers. */
const protectors = new WeakMap<object, Guard>();

function transportOf(server: object): unknown {
  return (server as { transport?: unknown }).transport;
}

function assertProtectable(server: AnyServer): void {
  const expected = (what: string) => invalidArgument(`server: expected ${what}`);
  if (typeof server?.connect !== 'function') {
    throw expected(
      'an McpServer or a Server of @modelcontextprotocol/server or @modelcontextprotocol/sdk',
    );
  }
  if (protectors.has(server)) throw expected('one that no other guard protects');
  if (transportOf(server) !== undefined) {
    throw expected('one not connected yet; protect it before connect');
  }
}

const OPTIONS = {
  codec: codecOf,
  principal: callerOf,
  onRefused: method as Check<Hooks['onRefused']>,
  onEvent: method as Check<Hooks['onEvent']>,
  logger: having<Logger>('warn'),
  timeLimit: seconds,
  ledger: having<Ledger>('run'),
  ledgerOptions: (_: string, given: unknown) =>
    checked(given, {
      ...{
        label: text,
        clockTolerance: count,
        acceptIssuedSince: count,
        reusableRequestState: flag,
      },
    }),
  requestStateTtl: checkTtl,
  confirmTtl: checkTtl,
  only: onlyOf,
} satisfies Record<keyof GuardOptions, Check<unknown>>;

type Check<T> = (name: string, given: unknown) => T;

/** Calls a function the first time only. */
function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

function codecOf(name: string, given: unknown): Codec {
  if (given instanceof Codec) return given;
  throw wrongClass(name, 'Codec', given);
}

function callerOf(name: string, given: unknown): PrincipalOf {
  if (given === 'anonymous') return () => anonymous;
  return method(name, given, "a function, or 'anonymous' by name") as PrincipalOf;
}

/** Returns a check for an object with these methods. */
function having<T>(...methods: string[]): Check<T> {
  return (name, given) => {
    for (const one of methods) method(`${name}.${one}`, Object(given)[one]);
    return given as T;
  };
}

function method(name: string, given: unknown, expected = 'a function'): unknown {
  if (typeof given !== 'function') throw wrongType(name, expected, given);
  return given;
}

function seconds(name: string, given: unknown): number {
  if (typeof given !== 'number') throw wrongType(name, 'a number', given);
  return given;
}

/** Checks a maximum age in seconds now, and not at the first request. */
function maxAgeOf(name: string, given: unknown): number {
  const seconds = count(name, given);
  if (seconds === 0) throw invalidArgument(`${name}: expected 1 second or more, found 0`);
  return seconds;
}

function handleType(given: unknown): string {
  const type = text('type', given);
  core().checkHandleType(type);
  return type;
}

function onlyOf(name: string, given: unknown): Record<string, string[]> {
  if (typeof given !== 'object' || given === null) throw wrongType(name, 'an object', given);
  const entries = Object.entries(given);
  return Object.fromEntries(
    entries.map(([target, of]) => [text(name, target), names(`${name}.${target}`, of)]),
  );
}

function onLost(name: string, value: unknown): 'refuse' | 'serve' {
  if (value === 'refuse' || value === 'serve') return value;
  throw invalidArgument(`${name}: expected 'refuse' or 'serve', found ${String(value)}`);
}
