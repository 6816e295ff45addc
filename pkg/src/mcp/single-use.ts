import { invalidArgument } from '../error.js';
import { count, optional, options } from '../input.js';
import type { Accept, Accepted } from './accept.js';

/**
 * Accepts each `requestState` once, and everything else until it was ended, from the memory of
 * one process.
 *
 * It remembers an id until its token has expired by itself. It never forgets one before: once as
 * many as `capacity` are alive, whatever is new fails closed, as the server's own trouble. A state
 * is used up when its handler begins: where that fails, the client begins anew.
 *
 * What one process remembers, no other knows. Behind a load balancer a token can be used once at
 * each replica, and after a restart once more: single use holds only where one process serves
 * all, and only while it runs. Otherwise put a store that all replicas share behind
 * {@link Accept}, and let it decide atomically.
 *
 * @example
 * ```js
 * import { anonymous, SingleUse } from 'sealwax/mcp';
 *
 * const once = new SingleUse({ capacity: 1000 });
 * const expiresAt = Math.floor(Date.now() / 1000) + 600;
 * const token = { kind: 'request-state', id: '01', principal: anonymous, expiresAt };
 * console.log(once.accept(token), once.accept(token)); // true false
 * ```
 */
export class SingleUse implements Accept {
  readonly #capacity: number;
  readonly #expiryById = new Map<string, number>();
  /** Nothing expires before, so until then there is nothing to forget. */
  #earliest = Number.POSITIVE_INFINITY;

  /**
   * @param given `capacity`: how many ids to remember at most, 10,000 unless set
   * @throws {@link SealwaxError} `invalid_argument` for a capacity of nothing
   */
  constructor(given: { readonly capacity?: number | undefined } = {}) {
    this.#capacity = optional(count, 'capacity', options(given, 'capacity').capacity) ?? 10_000;
    if (this.#capacity === 0) throw invalidArgument('capacity: expected 1 or more, found 0');
  }

  accept(token: Accepted): boolean {
    if (this.#expiryById.has(name(token))) return false;
    if (token.kind === 'request-state') this.#remember(token);
    return true;
  }

  ended(token: Accepted): void {
    this.#remember(token);
  }

  #remember(token: Accepted): void {
    const id = name(token);
    if (this.#expiryById.size >= this.#capacity && !this.#expiryById.has(id)) this.#forget();
    const expiry = token.expiresAt ?? Number.POSITIVE_INFINITY;
    this.#expiryById.set(id, expiry);
    this.#earliest = Math.min(this.#earliest, expiry);
  }

  /** Makes room, by what can no longer be opened anyway. */
  #forget(): void {
    const now = Date.now() / 1000;
    if (this.#earliest < now) {
      this.#earliest = Number.POSITIVE_INFINITY;
      for (const [id, expiry] of this.#expiryById) {
        if (expiry < now) this.#expiryById.delete(id);
        else this.#earliest = Math.min(this.#earliest, expiry);
      }
    }
    if (this.#expiryById.size >= this.#capacity) {
      throw new Error(`SingleUse: full of ${this.#capacity} live ids; give it a larger capacity`);
    }
  }
}

function name({ kind, id }: Accepted): string {
  return `${kind} ${id}`;
}
