import { invalidArgument } from '../error.js';
import { flag, optional, options, text, wrongType } from '../input.js';
import { checkTtl } from '../lifetime.js';
import type { CallOf } from './acts.js';
import type { Required, SessionSettings } from './engine.js';
import type { Beginning, Policy } from './policy.js';
import type { HandlerContext } from './sdk.js';
import type { Session } from './session.js';

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
 * A client's requests may come to any replica, and two at once: see {@link Session.write} and
 * {@link Session.update}.
 *
 * Made by {@link Guard.sessions}.
 */
export class DataLayerSessions<T = unknown> {
  readonly #callOf: CallOf;

  /** @internal */
  constructor(callOf: CallOf) {
    this.#callOf = callOf;
  }

  /**
   * The session of the request that a handler serves, if it has one. The handler of a list sees
   * none: a list is the same for every session, though one that is sent with it must be good.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  of(context: HandlerContext): Session<T> | undefined {
    return this.#callOf(context).session as Session<T> | undefined;
  }
}

/**
 * What the author said of sessions; what of it contradicts itself, the engine says.
 *
 * @throws `TypeError` for what is of the wrong type; {@link SealwaxError} `invalid_argument`
 */
export function sessionsOf(given: unknown): {
  readonly initial: Policy['initial'];
  readonly settings: SessionSettings;
} {
  const known = options(given, 'initial', 'ttl', 'noExpiry', 'required', 'heldByServer');
  const heldByServer = optional(flag, 'heldByServer', known.heldByServer);
  const { initial } = known;
  if (heldByServer && initial !== undefined) {
    throw invalidArgument('heldByServer: expected no initial beside it');
  }
  if (!heldByServer && typeof initial !== 'function') {
    throw wrongType('initial', 'a function that gives the first value of a session', initial);
  }
  return {
    initial: initial as Policy['initial'],
    settings: {
      ttl: optional(checkTtl, 'ttl', known.ttl),
      noExpiry: optional(flag, 'noExpiry', known.noExpiry),
      heldByServer,
      required: requiredOf(known.required),
    },
  };
}

function requiredOf(given: unknown): Required | undefined {
  if (given === undefined || given === true) return given;
  const { methods, tools } = options(given, 'methods', 'tools');
  return {
    methods: optional(names, 'required.methods', methods),
    tools: optional(names, 'required.tools', tools),
  };
}

export function names(name: string, given: unknown): readonly string[] {
  if (!Array.isArray(given)) throw wrongType(name, 'an array of strings', given);
  return given.map((item) => text(name, item));
}
