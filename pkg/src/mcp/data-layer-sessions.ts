import { invalidArgument } from '../error.js';
import { flag, optional, options, text, wrongType } from '../input.js';
import { checkTtl, lifetime } from '../lifetime.js';
import { type Beginning, type DataLayer, isList, type SessionPolicy } from './data-layer.js';
import type { CallOf } from './handle-kind.js';
import { SESSIONS_CREATE } from './metadata.js';
import type { HandlerContext } from './sdk.js';
import type { Session } from './session.js';

/** What needs a session. */
export type Required =
  | true
  | {
      /** Methods, such as `resources/read`. */
      readonly methods?: readonly string[] | undefined;
      /** Tools, by name. */
      readonly tools?: readonly string[] | undefined;
    };

/** What data-layer sessions are told. */
export interface SessionsOptions<T> {
  /** Gives the first value of a new session: JSON. */
  readonly initial?: ((beginning: Beginning) => T | PromiseLike<T>) | undefined;
  /** How many seconds a session lives without a write: 24 hours unless set. */
  readonly ttl?: number | undefined;
  /** It lives until it is as old as the codec's `sessionMaxAge` says. */
  readonly noExpiry?: boolean | undefined;
  /**
   * What needs a session: nothing unless set. `true` is every method but the handshake, `ping` and
   * the lists, which never depend on a session.
   */
  readonly required?: Required | undefined;
  /**
   * The server holds what belongs to a session, by its `ulid`: then the id alone is verified, and
   * nothing is sealed. Otherwise an id without its state is refused, for leaving it out would reset
   * a session.
   */
  readonly heldByServer?: boolean | undefined;
}

/**
 * Data-layer sessions of the servers that a guard protects: `sessions/create`, `sessions/delete`,
 * and one value to each session, which the client keeps, sealed.
 *
 * A client's requests may come to any replica, and two at once: see {@link Session.write}.
 *
 * Made by {@link Guard.sessions}.
 */
export class DataLayerSessions<T = unknown> {
  readonly #layer: DataLayer;
  readonly #callOf: CallOf;

  /** @internal */
  constructor(layer: DataLayer, callOf: CallOf) {
    this.#layer = layer;
    this.#callOf = callOf;
  }

  /**
   * The session of the request that a handler serves, if it has one. The handler of a list sees
   * none: a list is the same for every session, though one that is sent with it must be good.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  of(context: HandlerContext): Session<T> | undefined {
    return this.#layer.of(this.#callOf(context)) as Session<T> | undefined;
  }
}

/** @throws `TypeError` for what is of the wrong type; {@link SealwaxError} `invalid_argument` */
export function sessionPolicy(given: unknown): SessionPolicy {
  const known = options(given, 'initial', 'ttl', 'noExpiry', 'required', 'heldByServer');
  const { initial, ttl, noExpiry } = known;
  optional(checkTtl, 'ttl', ttl);
  const life = lifetime({ ttl, noExpiry } as Parameters<typeof lifetime>[0]);
  if (optional(flag, 'heldByServer', known.heldByServer)) {
    if (initial !== undefined || ttl !== undefined || noExpiry !== undefined) {
      throw invalidArgument('heldByServer: expected no initial, ttl or noExpiry beside it');
    }
  } else if (typeof initial !== 'function') {
    throw wrongType('initial', 'a function that gives the first value of a session', initial);
  }
  return {
    initial: initial as SessionPolicy['initial'],
    life,
    required: requiredOf(known.required),
  };
}

function requiredOf(given: unknown): SessionPolicy['required'] {
  if (given === undefined) return () => false;
  if (given === true) return (method) => !isFree(method);
  const known = options(given, 'methods', 'tools');
  const [methods, tools] = [names('methods', known.methods), names('tools', known.tools)];
  const free = [...methods].find(isFree);
  if (free !== undefined) {
    throw invalidArgument(`required.methods: ${free} never depends on a session; leave it out`);
  }
  return (method, tool) =>
    methods.has(method) || (method === 'tools/call' && tools.has(tool as string));
}

/** What must work for whoever has no session yet, and the lists. */
function isFree(method: string): boolean {
  const always = ['initialize', 'ping', 'server/discover', SESSIONS_CREATE];
  return always.includes(method) || isList(method);
}

function names(name: string, given: unknown): ReadonlySet<string> {
  if (given === undefined) return new Set();
  if (!Array.isArray(given)) throw wrongType(`required.${name}`, 'an array of strings', given);
  return new Set(given.map((item) => text(`required.${name}`, item)));
}
