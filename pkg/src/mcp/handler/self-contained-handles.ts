import type { HandleResult, Predecessor } from '../../documents.js';
import { wrongType } from '../../input.js';
import { Opened } from '../../opened.js';
import { written } from '../engine.js';
import type { HandlerContext } from '../sdk-types.js';
import type { Handling } from './exchange.js';

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
    return handleOf(done, handle as string, done.value ?? 'null');
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
    return handleOf(done, done.handle ?? '', state.text);
  }
}

/** The facts that a successor continues, by the opened handle. */
const predecessors = new WeakMap<object, Predecessor>();

function handleOf<T>(done: HandleResult, handle: string, value: string): SelfContainedHandle<T> {
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
