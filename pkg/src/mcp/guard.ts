import { Codec } from '../codec.js';
import { invalidArgument } from '../error.js';
import { count, flag, optional, options, text, wrongClass, wrongType } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { core } from '../module.js';
import { anonymous, type Principal, partsOf } from '../principal.js';
import type { Accept } from './accept.js';
import { Engine, type LedgerOptions, type LedgerSettings, type Settings } from './engine.js';
import { Call } from './handler/call.js';
import {
  DataLayerSessions,
  names,
  type SessionsOptions,
  sessionsOf,
} from './handler/data-layer-sessions.js';
import { ReferenceHandles } from './handler/reference-handles.js';
import { type AnyServer, callOf, type HandlerContext, hook } from './handler/sdk.js';
import { SelfContainedHandles } from './handler/self-contained-handles.js';
import { TimeLimit } from './later.js';
import type { Ledger } from './ledger/ledger.js';
import { LedgerClient } from './ledger/ledger-client.js';
import { SESSIONS_CREATE, SESSIONS_DELETE } from './metadata.js';
import type { Policy, PrincipalOf } from './policy.js';
import { quietly, type Refused, report } from './refused.js';
import type { RequestContext } from './request-context.js';
import {
  type FetchHandler,
  type HttpSessionsOptions,
  withSessions,
} from './transport/http-sessions.js';
import type { Arrived } from './transport/intercept.js';
import type { Negotiated } from './transport/negotiated.js';

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
  readonly onRefused?: ((event: Refused) => void | PromiseLike<void>) | undefined;
  /** Receives a line for each: `console` by default. */
  readonly logger?: { warn(message: string): void } | undefined;
  /** Decides whether a token is accepted, and learns when one ends. */
  readonly accept?: Accept | undefined;
  /**
   * How many seconds `accept` and the `ledger` may take per request: 1 by default. One command of the ledger may take
   * three tenths of it.
   */
  readonly acceptTimeout?: number | undefined;
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
  /**
   * The arguments that a `requestState` is bound to, by the name of the tool or prompt: all by default. A
   * request that has none of them cannot be bound.
   */
  readonly only?: Readonly<Record<string, readonly string[]>> | undefined;
}

const OPTIONS = [
  'codec',
  'principal',
  'onRefused',
  'logger',
  'accept',
  'acceptTimeout',
  'ledger',
  'ledgerOptions',
  'requestStateTtl',
  'only',
] as const satisfies readonly (keyof GuardOptions)[];

const ANONYMOUS_BESIDE_USERS =
  'sealwax: SECURITY: the principal is anonymous, but a request came with authInfo: what this guard seals for one ' +
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
 * const keys = new KeyRing([Key.generate()]); // a server passes process.env.SEALWAX_KEYS
 * const codec = new Codec({ keys, audience: 'https://mcp.example.com' });
 * const guard = new Guard({ codec, principal: principalFromAuthInfo });
 *
 * const server = guard.protect(new McpServer({ name: 'notes', version: '1.0.0' }));
 * server.registerTool('clear', {}, async (ctx) => {
 *   if (ctx.mcpReq.requestState()?.asked) return { content: [{ type: 'text', text: 'cleared' }] };
 *   return inputRequired({ requestState: guard.state(ctx, { asked: true }) });
 * });
 * console.log(server instanceof McpServer); // true
 * ```
 */
export class Guard {
  readonly #policy: Policy;
  #settings: Settings;

  static {
    policyOf = (guard) => {
      if (!(guard instanceof Guard)) throw wrongClass('guard', 'Guard', guard);
      return guard.#policy;
    };
  }

  readonly #servers = new WeakSet<object>();
  #protecting = false;
  readonly #callOf = (context: HandlerContext): Call => {
    const call = callOf(context);
    if (call instanceof Call && call.policy === this.#policy) {
      if (!call.isOver) return call;
      throw invalidArgument('context: expected a request in progress, found it is over');
    }
    throw invalidArgument(
      'context: expected that of a handler of a protected server; ' +
        'call guard.protect(server) before it connects',
    );
  };

  /** @throws `TypeError` for a missing option or one of the wrong type; {@link SealwaxError} */
  constructor(given: GuardOptions) {
    const known = options(given, ...OPTIONS);
    const { codec } = known;
    if (!(codec instanceof Codec)) {
      throw wrongClass('codec', 'Codec', codec);
    }
    const { accept, onRefused, logger = console } = given;
    if (onRefused !== undefined) method('onRefused', onRefused);
    method('logger.warn', Object(logger).warn);
    if (accept !== undefined) {
      method('accept.accept', Object(accept).accept);
      method('accept.ended', Object(accept).ended);
    }
    this.#settings = {
      requestStateTtl: optional(checkTtl, 'requestStateTtl', known.requestStateTtl),
      only: onlyOf(known.only ?? {}),
      asks: accept !== undefined,
      ledger: ledgerOf(known.ledger, known.ledgerOptions),
    };
    const engine = new Engine(codec, this.#settings);
    const { asks, ledger: remembers } = this.#settings;
    const { ledger } = given;
    const acceptTimeout = seconds('acceptTimeout', known.acceptTimeout) ?? 1;
    const warn = (line: string) => quietly(() => logger.warn(line));
    let hasWarned = false;
    const warnOfUser = () => {
      if (!hasWarned) warn(ANONYMOUS_BESIDE_USERS);
      hasWarned = true;
    };
    this.#policy = {
      codec,
      principalOf: principalOf(known.principal),
      accept,
      acceptTimeout,
      known: new WeakMap(),
      knownById: new Map(),
      onRefused,
      logger,
      ledgerClient: ledger && new LedgerClient(ledger, acceptTimeout, warn),
      engine,
      transportOf: (transport) => new Engine(codec, { transport, asks, ledger: remembers }),
      warnOfUser,
      initial: undefined,
      sessions: false,
    };
  }

  /**
   * Protects a server and returns it. Call it before the server connects; a factory that creates a server for
   * each request protects each of them.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a server with a `requestState.verify` of its own,
   * one that is connected, or one of an unsupported SDK
   */
  protect<S extends AnyServer>(server: S): S {
    if (!this.#servers.has(server)) {
      const boundary = (message: Arrived, context: RequestContext) =>
        new Call(this.#policy, message, context);
      const methods = this.#settings.sessions ? [SESSIONS_CREATE, SESSIONS_DELETE] : [];
      hook(server, boundary, methods);
      this.#servers.add(server);
      this.#protecting = true;
    }
    return server;
  }

  /**
   * Revokes every token that a principal has until now. A user who signs in within the ledger's allowance
   * after it (5 seconds by default) has to sign in again. `ledger_unconfirmed` is logged if no replica of the
   * store confirmed it.
   *
   * @param retainFor how many seconds the ledger keeps the record: at least the longest lifetime of the
   * service's tokens, now or later; 400 days by default, longer than anything lives
   * @throws {@link SealwaxError} `invalid_argument` without a ledger; an `Error` if the ledger did not record it
   */
  async revoke(principal: Principal, retainFor?: number): Promise<void> {
    partsOf(principal);
    const { acceptTimeout, engine, ledgerClient } = this.#policy;
    const exchange = engine.revoke(principal, optional(count, 'retainFor', retainFor));
    const limit = new TimeLimit(acceptTimeout);
    try {
      for (let step = exchange.first; ; ) {
        for (const refusal of step.refused ?? []) {
          report(this.#policy, refusal, { method: undefined, principal, cause: undefined });
        }
        if (step.step === 'done') return;
        if (step.step !== 'ledger' || ledgerClient === undefined) {
          throw new Error(step.refused?.at(-1)?.message);
        }
        const { event } = await ledgerClient.record(step, limit);
        step = exchange.on(event);
      }
    } finally {
      exchange.free();
    }
  }

  /**
   * Seals a value and returns the token: the `requestState` of `inputRequired`, in a handler of a protected server.
   * In the next request the SDK's `ctx.mcpReq.requestState<T>()` returns the value
   * that the guard opened; in a method that carries none it throws, as this does.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server, in a method that carries
   * no `requestState`, and for a value that JSON cannot hold; `too_large`, `entropy_unavailable`
   */
  state(context: HandlerContext, value: unknown): string {
    return this.#callOf(context).sealed(value);
  }

  /**
   * Adds data-layer sessions to every server that is protected afterwards: the capability, the method
   * `sessions/create`, and one value for each session. `sessions/delete` needs a `ledger` or an `accept` that
   * records it; without either the method does not exist.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a second call, or one after `protect`
   */
  sessions<T = unknown>(given: SessionsOptions<T>): DataLayerSessions<T> {
    const { initial, settings } = sessionsOf(given);
    if (this.#protecting || this.#settings.sessions !== undefined) {
      throw invalidArgument('sessions: expected once, and before guard.protect(server)');
    }
    const policy = this.#policy;
    this.#settings = { ...this.#settings, sessions: settings };
    policy.engine = new Engine(policy.codec, this.#settings);
    policy.initial = initial;
    policy.sessions = settings.required === undefined || 'required';
    return new DataLayerSessions<T>(this.#callOf);
  }

  /**
   * Adds sessions of the revisions up to 2025-11-25 to a stateless handler, such as `fetch` of
   * `createMcpHandler`. The response to `initialize` carries an `Mcp-Session-Id` that holds the negotiated
   * values, and each later request sends it, to any replica. Requests of revision 2026-07-28 pass unchanged.
   *
   * A request without it gets 400. A refused one gets 404, so that the client starts a new session. `DELETE`
   * ends the session if there is a `ledger` or an `accept` to record that; otherwise it gets 405.
   *
   * No replica holds a connection to the client. In these revisions a tool therefore cannot call the client
   * while it runs (elicitation, sampling, roots); in 2026-07-28 it returns `inputRequired` instead. The server
   * can send notifications only within a response.
   */
  fetch(handler: FetchHandler, given: HttpSessionsOptions = {}): FetchHandler {
    const known = options(given, 'required', 'ttl', 'idle', 'sep1359');
    method('handler', handler);
    const required = optional(flag, 'required', known.required) ?? true;
    const ttl = optional(checkTtl, 'ttl', known.ttl);
    const idle = optional(checkTtl, 'idle', known.idle);
    const sep1359 = optional(flag, 'sep1359', known.sep1359) ?? false;
    const engine = this.#policy.transportOf({ required, ttl, idle, sep1359 });
    return withSessions(handler, this.#policy, engine, sep1359);
  }

  /**
   * Returns the values negotiated at `initialize`, in a handler behind {@link Guard.fetch}; `undefined` for a
   * request without such a session.
   */
  negotiated(context: RequestContext): Negotiated | undefined {
    const { req } = context.http ?? {};
    return req && this.#policy.known.get(req)?.negotiated;
  }

  /**
   * Returns the server-held handles of a type, which is a lowercase letter, then up to 31 lowercase letters or
   * digits.
   *
   * @param given `maxAge`: the lifetime of a handle in seconds; by default that of its key
   */
  referenceHandles(
    type: string,
    given: { readonly maxAge?: number | undefined } = {},
  ): ReferenceHandles {
    const maxAge = optional(maxAgeOf, 'maxAge', options(given, 'maxAge').maxAge);
    return new ReferenceHandles(this.#callOf, handleType(type), maxAge);
  }

  /**
   * Returns the handles of a type that hold their state.
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
    const { ttl, maxAge, singleUse } = options(given, 'ttl', 'maxAge', 'singleUse');
    return new SelfContainedHandles<T>(this.#callOf, handleType(type), {
      ttl: optional(checkTtl, 'ttl', ttl),
      maxAge: optional(maxAgeOf, 'maxAge', maxAge),
      singleUse: optional(flag, 'singleUse', singleUse) ?? false,
    });
  }
}

function ledgerOf(ledger: unknown, given: unknown): LedgerSettings | undefined {
  if (ledger === undefined) {
    if (given === undefined) return undefined;
    throw invalidArgument('ledgerOptions: expected a ledger too, found none');
  }
  const { run, local } = Object(ledger);
  method('ledger.run', run);
  const known = options(
    given ?? {},
    'label',
    'clockTolerance',
    'acceptIssuedSince',
    'reusableRequestState',
  );
  return {
    local: optional(flag, 'ledger.local', local),
    label: optional(text, 'label', known.label),
    clockTolerance: optional(count, 'clockTolerance', known.clockTolerance),
    acceptIssuedSince: optional(count, 'acceptIssuedSince', known.acceptIssuedSince),
    reusableRequestState: optional(flag, 'reusableRequestState', known.reusableRequestState),
  };
}

function principalOf(given: unknown): PrincipalOf {
  if (given === 'anonymous') return () => anonymous;
  return method('principal', given, "a function, or 'anonymous' by name") as PrincipalOf;
}

function method(name: string, given: unknown, expected = 'a function'): unknown {
  if (typeof given !== 'function') throw wrongType(name, expected, given);
  return given;
}

function seconds(name: string, given: unknown): number | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'number') throw wrongType(name, 'a number', given);
  // A timer treats a number that is too large as zero.
  if (given > 0 && given <= 60) return given;
  throw invalidArgument(`${name}: expected more than 0 and at most 60 seconds, found ${given}`);
}

/** Checks a maximum age in seconds now, and not at the first request. */
function maxAgeOf(name: string, given: unknown): number {
  const seconds = count(name, given);
  if (seconds === 0) throw invalidArgument(`${name}: expected 1 second or more, found 0`);
  return seconds;
}

/** Checks a type of handles. */
function handleType(given: unknown): string {
  const type = text('type', given);
  core().checkHandleType(type);
  return type;
}

function onlyOf(given: unknown): Readonly<Record<string, readonly string[]>> {
  if (typeof given !== 'object' || given === null) throw wrongType('only', 'an object', given);
  const entries = Object.entries(given);
  return Object.fromEntries(entries.map(([target, of]) => [target, names(`only.${target}`, of)]));
}
