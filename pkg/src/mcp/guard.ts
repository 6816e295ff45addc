import { Codec } from '../codec.js';
import { invalidArgument } from '../error.js';
import { count, flag, json, optional, options, text, wrongClass, wrongType } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { core } from '../module.js';
import { anonymous, type Principal, partsOf } from '../principal.js';
import type { Accept } from './accept.js';
import { Call } from './call.js';
import {
  DataLayerSessions,
  names,
  type SessionsOptions,
  sessionsOf,
} from './data-layer-sessions.js';
import { Engine, type LedgerOptions, type LedgerSettings, type Settings } from './engine.js';
import { Handles } from './handles.js';
import { HeldHandles } from './held-handles.js';
import { type FetchHandler, type HttpSessionsOptions, withSessions } from './http-sessions.js';
import { TimeLimit } from './later.js';
import type { Ledger } from './ledger.js';
import { LedgerClient } from './ledger-client.js';
import { SESSIONS_CREATE, SESSIONS_DELETE } from './metadata.js';
import type { Negotiated } from './negotiated.js';
import type { Policy, PrincipalOf } from './policy.js';
import { quietly, type Refused, tell } from './refused.js';
import type { RequestContext } from './request-context.js';
import { type AnyServer, callOf, type HandlerContext, intercept } from './sdk.js';
import type { Arrived } from './transport.js';

/** What a {@link Guard} is told. */
export interface GuardOptions {
  /** What seals and opens: keys, and the name of the service. */
  readonly codec: Codec;
  /**
   * Tells who asks, by what is known of a request, at most once for each: of the SDK's own
   * `AuthInfo` {@link principalFromAuthInfo} does. Whoever gives nobody refuses the request. A
   * server without authentication says `'anonymous'`, and then whoever holds a token can use it.
   */
  readonly principal: PrincipalOf | 'anonymous';
  /** Is told of everything refused, and of what could not be sealed. */
  readonly onRefused?: ((event: Refused) => void | PromiseLike<void>) | undefined;
  /** Gets a line of the same: `console` unless set. */
  readonly logger?: { warn(message: string): void } | undefined;
  /** Is asked before a token is accepted, and told when one ends. */
  readonly accept?: Accept | undefined;
  /**
   * How many seconds `accept` and the `ledger` may take, of each request: 1 unless set. One command of the ledger may
   * take three tenths of it.
   */
  readonly acceptTimeout?: number | undefined;
  /**
   * Remembers what was used, what ended, and which state of a session is the latest. With it a
   * `requestState` is good once, whatever ends has ended, and of two writes of a session at once one
   * wins and the other hears it.
   */
  readonly ledger?: Ledger | undefined;
  /** How the ledger is used. */
  readonly ledgerOptions?: LedgerOptions | undefined;
  /** How many seconds a `requestState` lives: 600 unless set. */
  readonly requestStateTtl?: number | undefined;
  /**
   * Which arguments of a tool or a prompt its `requestState` is bound to, by name: all of them
   * unless set. A request that has none of them cannot be bound.
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

/** @internal */
export let policyOf: (guard: unknown) => Policy;

/**
 * Stands between a server's handlers and its clients: what leaves in `requestState` and in
 * `nextCursor` is sealed, and what comes back is opened and checked before a handler runs.
 *
 * A `requestState` belongs to its request: the method, the target, the arguments as they came, and
 * the user. A cursor belongs to its list and the user, or to everybody if its page is public, as
 * `cacheScope` says: caches hand that to anybody. What is not good is answered at once, with the one
 * answer of its kind, and the handler does not run.
 *
 * A token is good as often as it comes back in its time, unless there is a `ledger`, which remembers: with
 * {@link MemoryLedger} for one process, {@link SqliteLedger} for one machine, {@link RedisLedger} for a fleet.
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

  /** @throws `TypeError` for what is missing or of the wrong type; {@link SealwaxError} */
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
      initial: undefined,
      sessions: false,
    };
  }

  /**
   * Protects a server, before it connects, and returns it. A factory that makes one for each
   * request protects each.
   *
   * @throws {@link SealwaxError} `invalid_argument` for what cannot be protected: a server with a
   * `requestState.verify` of its own, one that is connected, or one of an SDK that has changed
   */
  protect<S extends AnyServer>(server: S): S {
    if (!this.#servers.has(server)) {
      const boundary = (message: Arrived, context: RequestContext) =>
        new Call(this.#policy, message, context);
      const methods = this.#settings.sessions ? [SESSIONS_CREATE, SESSIONS_DELETE] : [];
      intercept(server, boundary, methods);
      this.#servers.add(server);
      this.#protecting = true;
    }
    return server;
  }

  /**
   * Signs a principal out everywhere: whatever of theirs began until now is refused. Whoever signs in
   * within the ledger's allowance after it, 5 seconds unless set, has to do it again. Where a replica of
   * the store should have it and none confirmed it, the log is told `ledger_unconfirmed`.
   *
   * @param lives for how many seconds the ledger keeps that: the longest life of anything that the
   * service gives out; for ever unless set
   * @throws {@link SealwaxError} `invalid_argument` without a ledger; an `Error` where it did not take it
   */
  async revoke(principal: Principal, lives?: number): Promise<void> {
    partsOf(principal);
    const { acceptTimeout, engine, ledgerClient } = this.#policy;
    const exchange = engine.revoke(principal, optional(count, 'lives', lives));
    const limit = new TimeLimit(acceptTimeout);
    try {
      for (let step = exchange.first; ; ) {
        for (const refusal of step.refused ?? []) {
          tell(this.#policy, refusal, { method: undefined, principal, cause: undefined });
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
   * A value as `requestState`, for `inputRequired` in a handler of a protected server: it is
   * sealed when the result leaves. What comes back is read by the SDK's own
   * `ctx.mcpReq.requestState<T>()`, which gives what the guard opened and nothing else: in a method
   * that carries none, it throws as this does.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server, in a method
   * that carries none, and for what is no JSON
   */
  state(context: HandlerContext, value: unknown): string {
    this.#callOf(context).assertState();
    return json('state', value);
  }

  /**
   * Data-layer sessions, for every server that is protected from then on: the capability, the
   * method `sessions/create`, and one value to each session. `sessions/delete` needs a `ledger` or an
   * `accept` that remembers it; without one it is no method.
   *
   * @throws {@link SealwaxError} `invalid_argument` where it is said twice, or after `protect`
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
   * Puts sessions of the revisions to 2025-11-25 around a stateless handler, such as `fetch` of
   * `createMcpHandler`: `initialize` is answered with an `Mcp-Session-Id` that holds what was
   * negotiated, and every later request brings it back, to whichever replica. Requests of revision
   * 2026-07-28 pass as they are.
   *
   * Without it: 400. Refused: 404, so that the client begins anew. `DELETE` ends it, if there is a
   * `ledger` or an `accept` to remember that: otherwise 405.
   *
   * No replica holds a connection to the client. So a tool that asks it back while it runs, by
   * elicitation, sampling or roots, fails in these revisions; in 2026-07-28 it returns
   * `inputRequired` instead. Nor can a notification come outside of an answer.
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
   * What the session of a request settled at `initialize`, in a handler behind
   * {@link Guard.fetch}; `undefined` where there is no such session.
   */
  negotiated(context: RequestContext): Negotiated | undefined {
    const { req } = context.http ?? {};
    return req && this.#policy.known.get(req)?.negotiated;
  }

  /**
   * Server-held handles of a type: a small letter, then up to 31 small letters or digits.
   *
   * @param given `maxAge`: how many seconds a handle is good; as long as its key unless set
   */
  handles(type: string, given: { readonly maxAge?: number | undefined } = {}): Handles {
    const maxAge = optional(maxAgeOf, 'maxAge', options(given, 'maxAge').maxAge);
    return new Handles(this.#callOf, handleType(type), maxAge);
  }

  /**
   * Handles of a type that hold their state.
   *
   * @param given `ttl`: how many seconds each is good, 24 hours unless set; `maxAge`: how many
   * seconds the first and all that were renewed of it are; `singleUse`: renewing one uses it up, which
   * takes a `ledger`
   */
  heldHandles<T = unknown>(
    type: string,
    given: {
      readonly ttl?: number | undefined;
      readonly maxAge?: number | undefined;
      readonly singleUse?: boolean | undefined;
    } = {},
  ): HeldHandles<T> {
    const { ttl, maxAge, singleUse } = options(given, 'ttl', 'maxAge', 'singleUse');
    return new HeldHandles<T>(this.#callOf, handleType(type), {
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
  const known = options(given ?? {}, 'label', 'allowance', 'adopt', 'reusableRequestState');
  return {
    local: optional(flag, 'ledger.local', local),
    label: optional(text, 'label', known.label),
    allowance: optional(count, 'allowance', known.allowance),
    adopt: optional(count, 'adopt', known.adopt),
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
  // What a timer cannot hold, it takes for no time at all.
  if (given > 0 && given <= 60) return given;
  throw invalidArgument(`${name}: expected more than 0 and at most 60 seconds, found ${given}`);
}

/** The most seconds since something was made: a mistake is told now, not to the first who asks. */
function maxAgeOf(name: string, given: unknown): number {
  const seconds = count(name, given);
  if (seconds === 0) throw invalidArgument(`${name}: expected 1 second or more, found 0`);
  return seconds;
}

/** A type of handles. */
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
