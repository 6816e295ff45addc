import { invalidArgument } from '../../error.js';
import { flag, optional, options, text, wrongType } from '../../input.js';
import { checkTtl } from '../../lifetime.js';
import type { Required, SessionSettings } from '../engine.js';
import type { Beginning, Policy } from '../policy.js';
import type { CallOf } from './handle-op.js';
import type { HandlerContext } from './sdk.js';
import type { Session } from './session.js';

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

/**
 * Data-layer sessions of the servers that a guard protects: `sessions/create`, `sessions/delete`, and one
 * value for each session, which the client keeps sealed.
 *
 * A client may send requests to any replica, also several at once: see {@link Session.write} and
 * {@link Session.update}.
 *
 * Created by {@link Guard.sessions}.
 */
export class DataLayerSessions<T = unknown> {
  readonly #callOf: CallOf;

  /** @internal */
  constructor(callOf: CallOf) {
    this.#callOf = callOf;
  }

  /**
   * Returns the session of a handler's request, if there is one. The handler of a list gets none: a list is
   * the same for every session, though a session sent with it is verified.
   *
   * @throws {@link SealwaxError} `invalid_argument` outside of a protected server
   */
  of(context: HandlerContext): Session<T> | undefined {
    return this.#callOf(context).session as Session<T> | undefined;
  }
}

/**
 * Checks the types of the settings. The engine checks their values.
 *
 * @throws `TypeError` for a value of the wrong type; {@link SealwaxError} `invalid_argument`
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
