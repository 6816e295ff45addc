import { json } from '../input.js';
import type { SessionMetadata } from '../sessions.js';
import type { Told } from './caller.js';
import type { Exchange, SessionFacts } from './engine.js';
import { isPromiseLike } from './later.js';

/**
 * The session of a handler's request. It is logged as an empty object; use {@link Session.ulid} in logs.
 *
 * Returned by {@link DataLayerSessions.of}.
 */
export class Session<T = unknown> {
  readonly #exchange: Exchange;
  readonly #facts: SessionFacts;
  #value: T;
  readonly #updates: ((value: T) => T)[] = [];

  /** @internal */
  constructor(exchange: Exchange, facts: SessionFacts) {
    this.#exchange = exchange;
    this.#facts = facts;
    this.#value = facts.value === null ? undefined : JSON.parse(facts.value);
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
   * Writes the value that a function returns for the current one, and returns it. With a ledger, the function
   * is called again with the latest value if another request wrote meanwhile, so that all concurrent calls
   * succeed; its side effects are repeated too. It must not return a promise.
   *
   * @throws {@link SealwaxError} as {@link Session.write}; `TypeError` for a promise
   */
  update(change: (value: T) => T): T {
    const value = atOnce(change(this.#value));
    this.#exchange.update(json('value', value));
    this.#updates.push(change);
    this.#value = value;
    return value;
  }

  /** @internal Applies the functions to the value of another request. */
  again(written: string): Told {
    try {
      const value = this.#updates.reduce(
        (value, change) => atOnce(change(value)),
        JSON.parse(written),
      );
      return { event: { updated: {} }, value: json('value', value) };
    } catch (cause) {
      return { event: { updated: { failed: 'update: the function threw' } }, cause };
    }
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

/** A promise would be written as an empty object. */
function atOnce<T>(value: T): T {
  if (isPromiseLike(value)) {
    throw new TypeError('update: expected a function that returns a value, found a promise');
  }
  return value;
}
