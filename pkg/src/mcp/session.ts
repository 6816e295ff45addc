import { json } from '../input.js';
import type { SessionMetadata } from '../sessions.js';
import type { Told } from './caller.js';
import type { Exchange, SessionFacts } from './engine.js';
import { isPromiseLike } from './later.js';

/**
 * The session of a request, as its handler has it. It logs as an empty object: what logs know a
 * session by is its {@link Session.ulid}.
 *
 * Reached by {@link DataLayerSessions.of}.
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

  /** The session id, with which whoever has it and is this user goes on: no log should have it. */
  get id(): string {
    return this.#facts.id;
  }

  /** What logs and a store of yours know it by: 32 hex digits, the same for all its life. */
  get ulid(): string {
    return this.#facts.ulid;
  }

  /** How often it was sealed anew before this request; 0 where the server holds the state. */
  get generation(): number {
    return this.#facts.generation;
  }

  /** The value, as it was last written; a change of it in place is none until it is written. */
  get value(): T {
    return this.#value;
  }

  /**
   * Writes a new value, which leaves with the result. An error in place of a result discards it; a
   * tool's result with `isError` does not.
   *
   * Of two requests at once that write, the client keeps whatever came last. With a ledger the first one
   * wins: the other's result is discarded, and its client is told the latest state.
   *
   * @throws {@link SealwaxError} `invalid_argument` for what is no JSON, once the request is
   * answered, and where the server holds the state
   */
  write(value: T): void {
    this.#exchange.write(json('value', value));
    this.#value = value;
  }

  /**
   * Writes what a function makes of the value, and gives it. With a ledger, if somebody else wrote
   * meanwhile, the function is called again with their value, so that parallel calls all succeed: what it
   * does beside is done again too. It gives the value at once, not a promise.
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

  /** @internal Applies the functions to what somebody else wrote. */
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
   * A new session that begins with this one's value, while this one goes on: hand its metadata to
   * the client in a result.
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
    throw new TypeError('update: expected a function that gives a value, found a promise of one');
  }
  return value;
}
