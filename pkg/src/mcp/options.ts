/** The options of a guard, and how they reach its engine. */

import { Codec } from '../codec.js';
import type { Settings, TransportSettings } from '../documents.js';
import { invalidArgument } from '../error.js';
import { checked, count, flag, optional, text, wrongClass, wrongType } from '../input.js';
import { checkTtl } from '../lifetime.js';
import { type Logger, standard, write } from '../log.js';
import { core } from '../module.js';
import { anonymous } from '../principal.js';
import { Engine } from './engine.js';
import type { Known } from './handler/reference.js';
import type { Hooks, Listener } from './hooks.js';
import { attempt } from './later.js';
import type { Ledger } from './ledger/ledger.js';
import type { PrincipalOf, RequestContext } from './principal.js';

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

/** Settings of a guard's ledger. */
export interface LedgerOptions {
  /** Separates two ledgers of one audience in one store. */
  readonly label?: string | undefined;
  /**
   * How far the clocks of the replicas and of the store may differ, in seconds: 5 by default, and 0 if the
   * ledger is on this machine.
   */
  readonly clockTolerance?: number | undefined;
  /**
   * Accepts tokens that are older than the ledger if they were made at this time or later, in Unix seconds:
   * for the introduction of a ledger. This includes what ended before it, but no `requestState`, which could
   * have been used.
   */
  readonly acceptIssuedSince?: number | undefined;
  /** Whether a `requestState` may be used more than once. */
  readonly reusableRequestState?: boolean | undefined;
}

/** The requests that need a session. */
export type Required =
  | true
  | {
      /** Methods, such as `resources/read`. */
      readonly methods?: readonly string[] | undefined;
      /** Tools, by name. */
      readonly tools?: readonly string[] | undefined;
    };

/** Settings of data-layer sessions. */
export interface SessionsOptions<T> {
  /** Returns the first value of a new session, as JSON. */
  readonly initial?: ((beginning: Beginning) => T | PromiseLike<T>) | undefined;
  /** The lifetime without a write, in seconds: 24 hours by default. */
  readonly ttl?: number | undefined;
  /** Whether a session ends only at the codec's `sessionMaxAge`. */
  readonly noExpiry?: boolean | undefined;
  /**
   * The requests that need a session: none by default. `true` means every method except the handshake,
   * `ping` and the lists, which never depend on a session.
   */
  readonly required?: Required | undefined;
  /**
   * Whether the server stores the state, by the session's `ulid`: then only the id is verified, and nothing
   * is sealed. Otherwise an id without its state is refused, because leaving it out would reset a session.
   */
  readonly heldByServer?: boolean | undefined;
}

/** Settings of {@link Guard.fetch}. */
export interface HttpSessionsOptions {
  /** Whether a request needs its session: true by default. */
  readonly required?: boolean | undefined;
  /** The lifetime of a session in seconds: 30 days by default, because a header cannot be renewed. */
  readonly ttl?: number | undefined;
  /**
   * How many seconds a session may be idle, which needs a `ledger`: up to its `ttl` by default. Use is recorded
   * at most ten times in that time, so that a session may end up to a tenth earlier.
   */
  readonly idle?: number | undefined;
  /**
   * `'serve'`: a request whose session is lost (it has expired, its key was retired, or it is of another audience) is served as
   * one without a session, and the log says so: for clients that begin no session after a 404. By default it is refused. Another
   * user's session, and one that was ended, are refused always.
   */
  readonly onLost?: 'serve' | 'refuse' | undefined;
  /**
   * Serves SEP-1359 too: the response to `initialize` has `sessionId` and `sessionTimeout`, messages carry a
   * `sessionId` in both directions if the client sends one, and `session/terminate` ends the session if there
   * is a `ledger` to record that.
   *
   * As the SEP requires, a session ends when another principal sends its token, if there is a `ledger`
   * to record that: someone who stole a token can end the session but not use it. A refreshed
   * credential of the same principal keeps the session.
   */
  readonly sep1359?: boolean | undefined;
}

/** Settings of a cursor in a tool's result. */
export interface PageOptions {
  /** The argument that carries the cursor: `cursor` by default. */
  readonly argument?: string | undefined;
  /** What the list is made of, such as its version: a cursor of another list is refused. */
  readonly list?: string | undefined;
}

/** Makes the question of a confirmation of a call's arguments. */
// biome-ignore lint/suspicious/noExplicitAny: an author says which arguments the tool has
export type QuestionOf<Arguments = any> = (
  args: Arguments,
  context: RequestContext,
) => string | PromiseLike<string>;

/** The context in which a session begins. */
export interface Beginning extends RequestContext {
  /** The parameters of `sessions/create`. */
  readonly params: Readonly<Record<string, unknown>>;
}

type Check<T> = (name: string, given: unknown) => T;

const OPTIONS = {
  codec: codecOf,
  principal: callerOf,
  onRefused: method as Check<Hooks['onRefused']>,
  onEvent: method as Check<Hooks['onEvent']>,
  logger: having<Logger>('warn'),
  timeLimit: seconds,
  ledger: having<Ledger>('run'),
  ledgerOptions,
  requestStateTtl: checkTtl,
  confirmTtl: checkTtl,
  only: onlyOf,
} satisfies Record<keyof GuardOptions, Check<unknown>>;

/** Where a request has an authenticated user while the principal is anonymous. */
export const ANONYMOUS_BESIDE_USERS =
  'SECURITY: the principal is anonymous, but a request came with authInfo: what this guard seals for one ' +
  'user opens for every other. Set the option principal: principalFromAuthInfo';

/** The checked options of a guard, and what its parts share. */
export class Policy implements Listener {
  readonly principalOf: PrincipalOf;
  readonly ledger: Ledger | undefined;
  readonly onRefused: Listener['onRefused'];
  readonly onEvent: Listener['onEvent'];
  readonly logger: Logger;
  /** What wrappers know of requests, by the reference in each, until it reaches the handlers. */
  readonly known = new Map<unknown, Known>();
  /** The functions that make the questions of confirmations, by the tools' names. */
  readonly questions = new Map<unknown, QuestionOf>();
  /** Whether some tools run only for a confirmed call. */
  confirms = false;
  /** Returns the first value of a data-layer session. */
  initial: ((beginning: Beginning) => unknown) | undefined;
  /** Those of the engine for messages to the handlers. */
  settings: Settings;
  /** The engine for messages to the handlers. */
  engine: Engine;
  readonly #codec: Codec;
  readonly #common: Settings;
  readonly #warned = new Set<string>();

  /** @throws `TypeError` for a missing option or one of the wrong type; {@link SealwaxError} */
  constructor(given: GuardOptions) {
    const {
      codec = codecOf('codec', undefined),
      principal = callerOf('principal', undefined),
      timeLimit = 1,
      logger = standard,
      ...rest
    } = checked(given, OPTIONS);
    const { onRefused, onEvent, ledger, ledgerOptions, ...settings } = rest;
    if (ledger === undefined && ledgerOptions !== undefined) {
      throw invalidArgument('ledgerOptions: expected a ledger too, found none');
    }
    this.principalOf = principal;
    this.ledger = ledger;
    this.onRefused = onRefused;
    this.onEvent = onEvent;
    this.logger = logger;
    this.#codec = codec;
    this.#common = {
      events: onEvent !== undefined,
      ledger: ledger && { local: optional(flag, 'ledger.local', ledger.local), ...ledgerOptions },
      timeLimitMs: Math.ceil(1000 * timeLimit),
    };
    this.settings = { ...this.#common, ...settings };
    this.engine = new Engine(codec, this.settings);
  }

  /** Begins an engine with more settings, which count once it has accepted them. */
  add(more: Settings): void {
    const settings = { ...this.settings, ...more };
    this.engine = new Engine(this.#codec, settings);
    this.settings = settings;
  }

  /** Returns the engine for messages to a wrapper around the handlers. */
  transport(transport: TransportSettings): Engine {
    return new Engine(this.#codec, { ...this.#common, transport });
  }

  /** Logs what the ledger warns of, at most a hundred texts; reading them changes no answer. */
  warnOfLedger(): void {
    const each = (warnings: readonly string[] = []) => {
      for (const warning of warnings) if (this.#warned.size < 100) this.warn(`ledger: ${warning}`);
    };
    attempt(
      () => this.ledger?.warnings,
      each,
      () => {},
    );
  }

  /** Logs a warning, once. */
  warn(warning: string): void {
    if (this.#warned.has(warning)) return;
    this.#warned.add(warning);
    write(this.logger, `sealwax: ${warning}`);
  }
}

/**
 * Checks the settings of data-layer sessions.
 *
 * @throws `TypeError` for a value of the wrong type; {@link SealwaxError} `invalid_argument`
 */
export function sessionsOf(given: unknown) {
  const sessions = checked(given, {
    initial: (_, initial) => initial as Policy['initial'],
    ttl: checkTtl,
    noExpiry: flag,
    heldByServer: flag,
    required: (_, given) => given === true || checked(given, { methods: names, tools: names }),
  });
  const { initial, heldByServer } = sessions;
  if (heldByServer && initial !== undefined) {
    throw invalidArgument('heldByServer: expected no initial beside it');
  }
  if (!heldByServer && typeof initial !== 'function') {
    throw wrongType('initial', 'a function that gives the first value of a session', initial);
  }
  return sessions;
}

/** @internal */
export const HTTP = { required: flag, ttl: checkTtl, idle: checkTtl, onLost, sep1359: flag };

/** @internal */
export const CONFIRM = { fallback: text };

/** @internal */
export const PAGE = { argument: text, list: text };

function ledgerOptions(_: string, given: unknown) {
  return checked(given, {
    label: text,
    clockTolerance: count,
    acceptIssuedSince: count,
    reusableRequestState: flag,
  });
}

function codecOf(name: string, given: unknown): Codec {
  if (given instanceof Codec) return given;
  throw wrongClass(name, 'Codec', given);
}

function callerOf(name: string, given: unknown): PrincipalOf {
  if (given === 'anonymous') return () => anonymous;
  return method(name, given, "a function, or 'anonymous' by name") as PrincipalOf;
}

/** Returns a check for an object with a method. */
function having<T>(member: string): Check<T> {
  return (name, given) => {
    method(`${name}.${member}`, Object(given)[member]);
    return given as T;
  };
}

export function method(name: string, given: unknown, expected = 'a function'): unknown {
  if (typeof given !== 'function') throw wrongType(name, expected, given);
  return given;
}

function seconds(name: string, given: unknown): number {
  if (typeof given !== 'number') throw wrongType(name, 'a number', given);
  return given;
}

/** Checks a maximum age in seconds now, and not at the first request. */
export function maxAgeOf(name: string, given: unknown): number {
  const seconds = count(name, given);
  if (seconds === 0) throw invalidArgument(`${name}: expected 1 second or more, found 0`);
  return seconds;
}

export function handleType(given: unknown): string {
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

function names(name: string, given: unknown): string[] {
  if (!Array.isArray(given)) throw wrongType(name, 'an array of strings', given);
  return given.map((item) => text(name, item));
}

function onLost(name: string, value: unknown): 'refuse' | 'serve' {
  if (value === 'refuse' || value === 'serve') return value;
  throw invalidArgument(`${name}: expected 'refuse' or 'serve', found ${String(value)}`);
}
