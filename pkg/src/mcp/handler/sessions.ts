import type { SessionSettings } from '../../documents.js';
import { invalidArgument } from '../../error.js';
import { checked, flag, text, wrongType } from '../../input.js';
import { checkTtl } from '../../lifetime.js';
import type { Beginning, Policy } from '../policy.js';
import type { HandlerContext } from '../sdk-types.js';
import type { CallOf } from './exchange.js';
import type { Session } from './session.js';

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

/**
 * Data-layer sessions of the servers that a guard protects: `sessions/create`, `sessions/delete`, and one
 * value for each session, which the client keeps sealed.
 *
 * A client may send requests to any replica, also several at once: see {@link Session.write}.
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
  const { initial, ...settings } = checked(given, {
    initial: (_, initial) => initial,
    ttl: checkTtl,
    noExpiry: flag,
    heldByServer: flag,
    required: requiredOf,
  });
  if (settings.heldByServer && initial !== undefined) {
    throw invalidArgument('heldByServer: expected no initial beside it');
  }
  if (!settings.heldByServer && typeof initial !== 'function') {
    throw wrongType('initial', 'a function that gives the first value of a session', initial);
  }
  return { initial: initial as Policy['initial'], settings };
}

function requiredOf(_: string, given: unknown): Required {
  return given === true || checked(given, { methods: names, tools: names });
}

export function names(name: string, given: unknown): string[] {
  if (!Array.isArray(given)) throw wrongType(name, 'an array of strings', given);
  return given.map((item) => text(name, item));
}
