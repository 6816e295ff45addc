import { json, wrongType } from '../input.js';
import { Opened } from '../opened.js';
import { acted, type CallOf } from './acts.js';
import { type Act, type Before, type Done, sent } from './engine.js';
import type { HandlerContext } from './sdk.js';

/** A handle that holds its state, as it was made or opened. */
export interface Held<T> {
  /** What the model carries. */
  readonly handle: string;
  /** What it holds. */
  readonly value: T;
  /** When it ends, as the model may read it, such as `2026-07-28T12:00:00Z`. */
  readonly expiresAt?: string;
  /** What opening tells beside: when it began, how often it was renewed, its token id. */
  readonly opened: Opened<'handle-state'>;
}

/**
 * Handles of one type that hold their state, so that the server keeps none.
 *
 * A change of the state makes the next handle. The one before stays good, with what it held, until
 * it expires or is ended. Where that must not be, a guard with a ledger makes them `singleUse`: then
 * {@link HeldHandles.renew} uses up the one before, and opening does not. Without a ledger, keep the
 * state in the server, by {@link Guard.handles}.
 *
 * Made by {@link Guard.heldHandles}.
 */
export class HeldHandles<T = unknown> {
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
   * A new handle for whoever asks, which holds a value as JSON.
   *
   * @throws {@link HandleRefused} where it cannot be sealed: it is too large, or no JSON
   */
  seal(context: HandlerContext, value: T): Promise<Held<T>> {
    return this.#sealed(context, value);
  }

  /**
   * Opens a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is good
   */
  async open(context: HandlerContext, handle: unknown): Promise<Held<T>> {
    const done = await this.#acted(context, {
      ...{ do: 'open', handle: sent(handle), once: this.#once },
    });
    return heldOf(done, handle as string, done.value ?? 'null');
  }

  /**
   * The next handle, in place of one that was opened: its beginning is kept, so that a `maxAge`
   * holds, and its generation is one more. Where they are `singleUse`, the one before is used up by
   * it.
   *
   * @throws {@link HandleRefused} as {@link HeldHandles.seal}, and where it was used up already
   */
  async renew(context: HandlerContext, held: Held<T>, value: T): Promise<Held<T>> {
    const before = befores.get(held.opened);
    if (before === undefined) throw wrongType('held', 'what open, seal or renew gave', held);
    return this.#sealed(context, value, before);
  }

  /** Ends a handle before its time, as {@link Handles.end} does. */
  async end(context: HandlerContext, handle: unknown): Promise<void> {
    await this.#acted(context, { do: 'end', handle: sent(handle), held: true });
  }

  async #sealed(context: HandlerContext, value: T, before?: Before): Promise<Held<T>> {
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

/** What the next one is made from. */
const befores = new WeakMap<object, Before>();

/** What is no JSON, the engine refuses. */
function written(value: unknown): string {
  try {
    return json('value', value);
  } catch {
    return '';
  }
}

function heldOf<T>(done: Done, handle: string, value: string): Held<T> {
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
