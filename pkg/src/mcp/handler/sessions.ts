import type { HandlerContext } from '../sdk-types.js';
import type { Handled } from './exchange.js';
import type { Session } from './session.js';

/**
 * Data-layer sessions of the servers that a guard protects: `sessions/create`, `sessions/delete`, and one
 * value for each session, which the client keeps sealed.
 *
 * A client may send requests to any replica, also several at once: see {@link Session.write}.
 *
 * Created by {@link Guard.sessions}.
 */
export class DataLayerSessions<T = unknown> {
  readonly #callOf: Handled['callOf'];

  /** @internal */
  constructor(callOf: Handled['callOf']) {
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
