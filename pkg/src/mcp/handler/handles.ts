/** Handles of both kinds: the keys of rows, and those that hold their state. */

import type { HandleResult, Predecessor } from '../../documents.js';
import { invalidArgument } from '../../error.js';
import { wrongType } from '../../input.js';
import { Opened } from '../../opened.js';
import { written } from '../engine.js';
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
    return referenceHandleOf(await this.#handle(context, { op: 'mint' }));
  }

  /**
   * Checks a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is accepted
   */
  async check(context: HandlerContext, handle: unknown): Promise<ReferenceHandle> {
    return referenceHandleOf(await this.#handle(context, { op: 'check', handle }));
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

function referenceHandleOf({ handle, id, expiresAt }: HandleResult): ReferenceHandle {
  return { handle: handle ?? '', ulid: id, ...(expiresAt && { expiresAt }) };
}

/** A created or opened handle that holds its state. */
export interface SelfContainedHandle<T> {
  /** The text for the model. */
  readonly handle: string;
  /** The state. */
  readonly value: T;
  /** The end of its life, for the model, such as `2026-07-28T12:00:00Z`. */
  readonly expiresAt?: string;
  /** The other facts of the token: its start, the number of renewals, its token id. */
  readonly opened: Opened<'handle-state'>;
}

/**
 * Handles of one type that hold their state, so that the server stores nothing.
 *
 * A change of the state creates a new handle. The previous one stays valid, with its old state, until it
 * expires or is ended. If that is not acceptable, set `singleUse`, which needs a ledger: then
 * {@link SelfContainedHandles.renew} uses up the previous handle; opening does not. Without a ledger, store the state
 * in the server and use {@link Guard.referenceHandles}.
 *
 * Created by {@link Guard.selfContainedHandles}.
 */
export class SelfContainedHandles<T = unknown> {
  readonly #handle: Handling;

  /** @internal */
  constructor(handle: Handling) {
    this.#handle = handle;
  }

  /**
   * Creates a handle for the caller that holds a value as JSON.
   *
   * @throws {@link HandleRefused} if the value is too large, or JSON cannot hold it
   */
  seal(context: HandlerContext, value: T): Promise<SelfContainedHandle<T>> {
    return this.#sealed(context, value);
  }

  /**
   * Opens a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is accepted
   */
  async open(context: HandlerContext, handle: unknown): Promise<SelfContainedHandle<T>> {
    const done = await this.#handle(context, { op: 'open', handle });
    return selfContainedHandleOf(done, handle as string, done.value ?? 'null');
  }

  /**
   * Creates the successor of an opened handle. The start is kept, so that a `maxAge` holds, and the
   * generation increases by one. With `singleUse` it uses up the previous handle.
   *
   * @throws {@link HandleRefused} as {@link SelfContainedHandles.seal}, and if the previous handle was already used
   */
  async renew(
    context: HandlerContext,
    handle: SelfContainedHandle<T>,
    value: T,
  ): Promise<SelfContainedHandle<T>> {
    const predecessor = predecessors.get(handle.opened);
    if (predecessor === undefined)
      throw wrongType('handle', 'what open, seal or renew gave', handle);
    return this.#sealed(context, value, predecessor);
  }

  /** Ends a handle before it expires, as {@link ReferenceHandles.end} does. */
  async end(context: HandlerContext, handle: unknown): Promise<void> {
    await this.#handle(context, { op: 'end', handle });
  }

  async #sealed(
    context: HandlerContext,
    value: T,
    predecessor?: Predecessor,
  ): Promise<SelfContainedHandle<T>> {
    const state = written(value);
    const done = await this.#handle(context, { op: 'seal', predecessor }, state);
    return selfContainedHandleOf(done, done.handle ?? '', state.text);
  }
}

/** The facts that a successor continues, by the opened handle. */
const predecessors = new WeakMap<object, Predecessor>();

function selfContainedHandleOf<T>(
  done: HandleResult,
  handle: string,
  value: string,
): SelfContainedHandle<T> {
  const { id, expiresAt, predecessor, times } = done;
  if (!predecessor || !times) throw new TypeError('engine: expected the times of a handle');
  const { startedAt, generation } = predecessor;
  const opened = new Opened('handle-state', {
    ...{ payload: new TextEncoder().encode(value), tokenId: id, startedAt, generation },
    issuedAt: times.issuedAt,
    expiresAt: times.expiresAt ?? undefined,
    needsReseal: times.needsReseal === true,
    needsRenewal: times.needsRenewal === true,
  });
  predecessors.set(opened, predecessor);
  return { handle, value: JSON.parse(value), opened, ...(expiresAt && { expiresAt }) };
}
