import type { OpenedSession } from '../../documents.js';
import { json } from '../../input.js';
import type { SessionMetadata } from '../../sessions.js';
import type { Exchange } from '../engine.js';
import { isPromiseLike } from '../later.js';

/** A handler's result: as it was made first, and as it was made again. */
export interface Remade {
  readonly first: Readonly<Record<string, unknown>>;
  readonly made: Readonly<Record<string, unknown>>;
}

/**
 * The session of a handler's request. It is logged as an empty object; use {@link Session.ulid} in logs.
 *
 * Returned by {@link DataLayerSessions.of}.
 */
export class Session<T = unknown> {
  readonly #exchange: Exchange;
  readonly #facts: OpenedSession;
  #value: T;
  readonly #updates: ((value: T) => T)[] = [];
  #result: { readonly first: object; readonly make: (value: T) => object } | undefined;

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
   * Writes the value that a function returns for the current one, and returns it. With a ledger, the function
   * is called again with the latest value if another request wrote meanwhile, so that all concurrent calls
   * succeed; its side effects are repeated too. It must not return a promise.
   *
   * What it returns is the value as of now: another request may come between. To answer with what is written in the
   * end, use {@link Session.result}.
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

  /**
   * Makes the handler's whole result from the value as written so far, and returns it. With a ledger, the function is
   * called again if another request wrote meanwhile, after those of {@link Session.update}, and what it makes then takes
   * the place of the first: so the result tells what was written. It must not return a promise. The last call counts.
   *
   * @throws `TypeError` for a promise
   */
  result<R extends object>(make: (value: T) => R): R {
    const first = atOnce(make(this.#value));
    this.#result = { first, make };
    return first;
  }

  /** @internal Applies the functions to the value of another request, and returns the outcome as JSON. */
  again(written: string): string {
    const value = this.#updates.reduce(
      (value, change) => atOnce(change(value)),
      JSON.parse(written),
    );
    this.#value = value;
    return json('value', value);
  }

  /** @internal Makes the result for the value of {@link Session.again}, if the handler has made one from the value. */
  remade(): Remade | undefined {
    if (this.#result === undefined) return undefined;
    const { first, make } = this.#result;
    return { first: { ...first }, made: { ...atOnce(make(this.#value)) } };
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
