import { json, wrongType } from '../../input.js';
import { Opened } from '../../opened.js';
import { type Act, type Before, clientValue, type Done } from '../engine.js';
import { acted, type CallOf } from './handle-op.js';
import type { HandlerContext } from './sdk.js';

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
  readonly #callOf: CallOf;
  readonly #type: string;
  readonly #ttl: number | undefined;
  readonly #maxAge: number | undefined;
  readonly #once: boolean;

  /** @internal */
  constructor(
    callOf: CallOf,
    type: string,
    life: {
      readonly ttl: number | undefined;
      readonly maxAge: number | undefined;
      readonly singleUse: boolean;
    },
  ) {
    this.#callOf = callOf;
    this.#type = type;
    this.#ttl = life.ttl;
    this.#maxAge = life.maxAge;
    this.#once = life.singleUse;
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
    const done = await this.#acted(context, {
      ...{ do: 'open', handle: clientValue(handle), once: this.#once },
    });
    return heldOf(done, handle as string, done.value ?? 'null');
  }

  /**
   * Creates the successor of an opened handle. The start is kept, so that a `maxAge` holds, and the
   * generation increases by one. With `singleUse` it uses up the previous handle.
   *
   * @throws {@link HandleRefused} as {@link SelfContainedHandles.seal}, and if the previous handle was already used
   */
  async renew(
    context: HandlerContext,
    held: SelfContainedHandle<T>,
    value: T,
  ): Promise<SelfContainedHandle<T>> {
    const before = befores.get(held.opened);
    if (before === undefined) throw wrongType('held', 'what open, seal or renew gave', held);
    return this.#sealed(context, value, before);
  }

  /** Ends a handle before it expires, as {@link ReferenceHandles.end} does. */
  async end(context: HandlerContext, handle: unknown): Promise<void> {
    await this.#acted(context, { do: 'end', handle: clientValue(handle), held: true });
  }

  async #sealed(
    context: HandlerContext,
    value: T,
    before?: Before,
  ): Promise<SelfContainedHandle<T>> {
    const text = written(value);
    const once = this.#once;
    const done = await this.#acted(context, { do: 'seal', ttl: this.#ttl, before, once }, text);
    return heldOf(done, done.handle ?? '', text);
  }

  #acted(context: HandlerContext, act: Omit<Act, 'type'>, value?: string): Promise<Done> {
    const [type, maxAge] = [this.#type, this.#maxAge];
    return acted(this.#callOf(context), { ...act, type, maxAge }, value);
  }
}

/** The facts that a successor continues, by the opened handle. */
const befores = new WeakMap<object, Before>();

/** Returns a value as JSON; the engine refuses the text of a value that JSON cannot hold. */
function written(value: unknown): string {
  try {
    return json('value', value);
  } catch {
    return '';
  }
}

function heldOf<T>(done: Done, handle: string, value: string): SelfContainedHandle<T> {
  const { id, expiresAt, before, life } = done;
  if (before === undefined || life === undefined) throw new TypeError('engine: expected its life');
  const opened = new Opened('handle-state', {
    payload: new TextEncoder().encode(value),
    tokenId: id,
    startedAt: before.startedAt,
    generation: before.generation,
    issuedAt: life.issuedAt,
    expiresAt: life.expiresAt ?? undefined,
    needsReseal: life.needsReseal === true,
    needsRenewal: life.needsRenewal === true,
  });
  befores.set(opened, before);
  const held = { handle, value: JSON.parse(value), opened };
  return expiresAt === undefined ? held : { ...held, expiresAt };
}
