import { json } from '../input.js';
import type { Opened } from '../opened.js';
import type { Sealer } from '../sealer.js';
import type { View } from '../view.js';
import type { Checks, Facts } from './checks.js';
import { type CallOf, HandleKind, readable } from './handle-kind.js';
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
 * it expires or is ended: where that must not be, keep the state in the server, by
 * {@link Guard.handles}.
 *
 * Made by {@link Guard.heldHandles}.
 */
export class HeldHandles<T = unknown> extends HandleKind<Held<T>> {
  readonly #type: string;
  readonly #ttl: number | undefined;
  readonly #maxAge: number | undefined;

  /** @internal */
  constructor(
    checks: Checks,
    callOf: CallOf,
    type: string,
    life: { readonly ttl: number | undefined; readonly maxAge: number | undefined },
  ) {
    super(checks, callOf, 'handle-state');
    this.#type = type;
    this.#ttl = life.ttl;
    this.#maxAge = life.maxAge;
  }

  /**
   * A new handle for whoever asks, which holds a value as JSON.
   *
   * @throws {@link HandleRefused} where it cannot be sealed: it is too large, or no JSON
   */
  seal(context: HandlerContext, value: T): Promise<Held<T>> {
    return this.made(context, (view) => this.#sealed(view, value));
  }

  /**
   * Opens a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is good
   */
  open(context: HandlerContext, handle: unknown): Promise<Held<T>> {
    return this.admitted(context, handle);
  }

  /**
   * The next handle, in place of one that was opened: its beginning is kept, so that a `maxAge`
   * holds, and its generation is one more.
   *
   * @throws {@link HandleRefused} as {@link HeldHandles.seal}
   */
  renew(context: HandlerContext, held: Held<T>, value: T): Promise<Held<T>> {
    return this.made(context, (view) => this.#sealed(view, value, held.opened));
  }

  #sealed(view: View, value: T, before?: Opened<'handle-state'>): Held<T> {
    const payload = new TextEncoder().encode(json('value', value));
    const life = { ttl: this.#ttl };
    const { token, opened } = this.#sealer(view).sealToken(payload, life, before);
    return heldOf(token, opened);
  }

  protected opened(view: View, handle: string): Held<T> {
    return heldOf(handle, this.#sealer(view).open(handle, { maxAge: this.#maxAge }));
  }

  protected facts({ opened }: Held<T>): Facts {
    return { id: opened.tokenId, endsAt: opened.expiresAt };
  }

  #sealer(view: View): Sealer<'handle-state'> {
    return view.handleState(this.#type);
  }
}

function heldOf<T>(handle: string, opened: Opened<'handle-state'>): Held<T> {
  const { expiresAt } = opened;
  return {
    handle,
    value: opened.json<T>(),
    opened,
    ...(expiresAt !== undefined && { expiresAt: readable(expiresAt) }),
  };
}
