import type { IdentifierFacts } from '../facts.js';
import type { View } from '../view.js';
import type { Checks, Facts } from './checks.js';
import { type CallOf, HandleKind, readable } from './handle-kind.js';
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

type Verified = IdentifierFacts & { readonly handle: string };

/**
 * Handles of one type: short, each the key of a row in the server's own store, and of use to
 * nobody but the user it was made for. Several live at once. Agents of one user share one by
 * passing it on, and are kept apart by each making its own.
 *
 * Made by {@link Guard.handles}.
 */
export class Handles extends HandleKind<Verified> {
  readonly #type: string;
  readonly #maxAge: number | undefined;

  /** @internal */
  constructor(checks: Checks, callOf: CallOf, type: string, maxAge: number | undefined) {
    super(checks, callOf, 'handle');
    this.#type = type;
    this.#maxAge = maxAge;
  }

  /**
   * A new handle for whoever asks.
   *
   * @throws {@link HandleRefused} where it cannot be made
   */
  async mint(context: HandlerContext): Promise<Handle> {
    const life = { maxAge: this.#maxAge };
    return handleOf(await this.made(context, (view) => view.newHandle(this.#type, life)));
  }

  /**
   * Checks a handle that a model passed.
   *
   * @throws {@link HandleRefused} unless it is good
   */
  async check(context: HandlerContext, handle: unknown): Promise<Handle> {
    return handleOf(await this.admitted(context, handle));
  }

  protected opened(view: View, handle: string): Verified {
    return view.verifyHandle(this.#type, handle, { maxAge: this.#maxAge });
  }

  protected facts({ ulid, endsAtMs }: Verified): Facts {
    return { id: ulid, endsAt: endsAtMs && endsAtMs / 1000 };
  }
}

function handleOf({ handle, ulid, endsAtMs }: Verified): Handle {
  return {
    handle,
    ulid,
    ...(endsAtMs !== undefined && { expiresAt: readable(Math.floor(endsAtMs / 1000)) }),
  };
}
