import type { OpenedSession } from '../../documents.js';
import { json } from '../../input.js';
import type { SessionMetadata } from '../../sessions.js';
import type { Exchange } from '../engine.js';

/**
 * The session of a handler's request. It is logged as an empty object; use {@link Session.ulid} in logs.
 *
 * Returned by {@link DataLayerSessions.of}.
 */
export class Session<T = unknown> {
  readonly #exchange: Exchange;
  readonly #facts: OpenedSession;
  #value: T;

  /** @internal */
  constructor(exchange: Exchange, facts: OpenedSession) {
    this.#exchange = exchange;
    this.#facts = facts;
    this.#value = facts.value == null ? undefined : JSON.parse(facts.value);
  }

  /** The session id. Keep it out of logs: with it, anyone signed in as this user has the session. */
  get id(): string {
    return this.#facts.id;
  }

  /** The name of the session for logs and your store: 32 hex digits that never change. */
  get ulid(): string {
    return this.#facts.ulid;
  }

  /** The number of renewals before this request; 0 if the server stores the state. */
  get generation(): number {
    return this.#facts.generation;
  }

  /** The value, as last written. A change in place has no effect until it is written. */
  get value(): T {
    return this.#value;
  }

  /**
   * Writes a new value, which is sent with the result. An error response discards it; a tool's result with
   * `isError` does not.
   *
   * If two concurrent requests write, the client keeps the value that it receives last. With a ledger the
   * first write succeeds: the other result is discarded, and its client receives the latest state.
   *
   * @throws {@link SealwaxError} `invalid_argument` for a value that JSON cannot hold, after the request was
   * answered, and if the server stores the state
   */
  write(value: T): void {
    this.#exchange.write(json('value', value));
    this.#value = value;
  }

  /**
   * Creates a session with this session's value and returns its metadata, to send to the client in a result.
   * Both sessions continue independently.
   *
   * @throws {@link SealwaxError} as {@link Session.write}; `too_large`, `entropy_unavailable`
   */
  fork(): SessionMetadata {
    return this.#exchange.fork();
  }
}
