import type { HandleResult } from '../../documents.js';
import { invalidArgument } from '../../error.js';
import { wrongType } from '../../input.js';
import type { HandlerContext } from '../sdk-types.js';
import type { Handling } from './exchange.js';

/** An accepted handle: the key of a row in your store. */
export interface ReferenceHandle {
  /** The text for the model. */
  readonly handle: string;
  /** The key for your store: 32 hex digits, the same at every check. */
  readonly ulid: string;
  /** The end of its life, for the model, such as `2026-07-28T12:00:00Z`. */
  readonly expiresAt?: string;
}

/**
 * Handles of one type: short texts, each the key of a row in the server's store, and usable only by the user
 * it was created for. A user may have several. Agents of one user share a handle by passing it on, and stay
 * separate by creating their own.
 *
 * Created by {@link Guard.referenceHandles}.
 */
export class ReferenceHandles {
  readonly #handle: Handling;

  /** @internal */
  constructor(handle: Handling) {
    this.#handle = handle;
  }

  /**
   * Creates a handle for the caller.
   *
   * @throws {@link HandleRefused} if it cannot be created
   */
  async mint(context: HandlerContext): Promise<ReferenceHandle> {
    return handleOf(await this.#handle(context, { op: 'mint' }));
  }

  /**
   * Checks a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is accepted
   */
  async check(context: HandlerContext, handle: unknown): Promise<ReferenceHandle> {
    return handleOf(await this.#handle(context, { op: 'check', handle }));
  }

  /**
   * Creates the short handle of a number of the caller's, such as the key of a row among the caller's own: `basket_7_` and 8
   * characters, the same each time. A model copies it better than a long one. It has no end but that of its row.
   *
   * @param number a whole number from 0 to 4294967295
   * @throws {@link HandleRefused} if it cannot be created, as for an anonymous caller; `TypeError` for what is no number,
   * {@link SealwaxError} `invalid_argument` for another one
   */
  async mintShort(context: HandlerContext, number: number): Promise<string> {
    const op = { op: 'mintShort', number: wholeNumber(number) } as const;
    return (await this.#handle(context, op)).handle as string;
  }

  /**
   * Checks a short handle that a model passed, and returns its number: look for the row among the caller's own.
   *
   * @throws {@link HandleRefused} unless it is accepted
   */
  async checkShort(context: HandlerContext, handle: unknown): Promise<number> {
    return Number((await this.#handle(context, { op: 'checkShort', handle })).value);
  }

  /**
   * Ends a handle before it expires, which needs a `ledger`: nothing else would record it.
   *
   * @throws {@link HandleRefused} unless it is accepted and its end is recorded
   */
  async end(context: HandlerContext, handle: unknown): Promise<void> {
    await this.#handle(context, { op: 'end', handle });
  }
}

function wholeNumber(given: unknown): number {
  if (typeof given !== 'number') throw wrongType('number', 'a number', given);
  if (given >>> 0 === given) return given;
  throw invalidArgument(`number: expected a whole number from 0 to 4294967295, found ${given}`);
}

function handleOf({ handle, id, expiresAt }: HandleResult): ReferenceHandle {
  return { handle: handle ?? '', ulid: id, ...(expiresAt && { expiresAt }) };
}
