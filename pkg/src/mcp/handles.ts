import { acted, type CallOf } from './acts.js';
import { type Done, sent } from './engine.js';
import type { HandlerContext } from './sdk.js';

/** A handle that is good: the key of a row of yours. */
export interface Handle {
  /** What the model carries. */
  readonly handle: string;
  /** What your store knows it by: 32 hex digits, the same whenever it is checked. */
  readonly ulid: string;
  /** When it ends, as the model may read it, such as `2026-07-28T12:00:00Z`. */
  readonly expiresAt?: string;
}

/**
 * Handles of one type: short, each the key of a row in the server's own store, and of use to
 * nobody but the user it was made for. Several live at once. Agents of one user share one by
 * passing it on, and are kept apart by each making its own.
 *
 * Made by {@link Guard.handles}.
 */
export class Handles {
  readonly #callOf: CallOf;
  readonly #type: string;
  readonly #maxAge: number | undefined;

  /** @internal */
  constructor(callOf: CallOf, type: string, maxAge: number | undefined) {
    this.#callOf = callOf;
    this.#type = type;
    this.#maxAge = maxAge;
  }

  /**
   * A new handle for whoever asks.
   *
   * @throws {@link HandleRefused} where it cannot be made
   */
  async mint(context: HandlerContext): Promise<Handle> {
    return handleOf(await this.#acted(context, 'mint'));
  }

  /**
   * Checks a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is good
   */
  async check(context: HandlerContext, handle: unknown): Promise<Handle> {
    return handleOf(await this.#acted(context, 'check', handle));
  }

  /**
   * Ends a handle before its time: the guard's `ledger` remembers that, and its `accept` is told.
   * Without either nothing would remember it, so then it is an error.
   *
   * @throws {@link HandleRefused} unless it is good, and where they failed
   */
  async end(context: HandlerContext, handle: unknown): Promise<void> {
    await this.#acted(context, 'end', handle);
  }

  #acted(context: HandlerContext, what: 'mint' | 'check' | 'end', handle?: unknown) {
    const [type, maxAge] = [this.#type, this.#maxAge];
    return acted(this.#callOf(context), { do: what, type, maxAge, handle: sent(handle) });
  }
}

function handleOf({ handle = '', id: ulid, expiresAt }: Done): Handle {
  return { handle, ulid, ...(expiresAt !== undefined && { expiresAt }) };
}
