import { invalidArgument } from '../error.js';
import { count, optional, options } from '../input.js';
import { type Principal, partsOf } from '../principal.js';
import type { Accept, Accepted } from './accept.js';

/**
 * Accepts each `requestState` once, and everything else until it was ended, from the memory of
 * one process.
 *
 * It remembers an id until nothing of its token opens anywhere, and never forgets one before. It
 * remembers as many as `capacity` of request states that were used, and as many of what was ended.
 * In each, a principal may have no more ids than there is room left: alone it fills half of it at
 * most, two fill a third each, and there is room for others. Over that, whatever is new of this
 * principal fails closed, as the server's own trouble. A state is used up when its handler begins:
 * where that fails, the client begins anew.
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
  readonly #used: Memory;
  readonly #ended: Memory;

  /**
   * @param given `capacity`: how many ids of each of the two to remember at most, 10,000 unless set
   * @throws {@link SealwaxError} `invalid_argument` for a capacity of nothing
   */
  constructor(given: { readonly capacity?: number | undefined } = {}) {
    const capacity = optional(count, 'capacity', options(given, 'capacity').capacity) ?? 10_000;
    if (capacity === 0) throw invalidArgument('capacity: expected 1 or more, found 0');
    [this.#used, this.#ended] = [new Memory(capacity), new Memory(capacity)];
  }

  accept(token: Accepted): boolean {
    const name = nameOf(token);
    if (this.#used.has(name) || this.#ended.has(name)) return false;
    if (token.kind === 'request-state') this.#used.add(name, token);
    return true;
  }

  ended(token: Accepted): void {
    this.#ended.add(nameOf(token), token);
  }
}

/** Names until they end, shared fairly among those whose they are. */
class Memory {
  readonly #capacity: number;
  readonly #known = new Map<string, { readonly end: number; readonly owner: string }>();
  /** What ends at a second, and what was once said to. */
  readonly #due = new Map<number, string[]>();
  readonly #held = new Map<string, number>();
  #forgotten = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(name: string): boolean {
    return this.#known.has(name);
  }

  /** @throws where there is no room for another of its owner's */
  add(name: string, { principal, expiresAt }: Accepted): void {
    this.#forget();
    const end = expiresAt ?? Number.POSITIVE_INFINITY;
    const known = this.#known.get(name);
    if (known !== undefined && known.end >= end) return;
    const owner = known?.owner ?? this.#room(ownerOf(principal));
    this.#known.set(name, { end, owner });
    const due = this.#due.get(end) ?? [];
    due.push(name);
    this.#due.set(end, due);
  }

  /** Makes room for one more of an owner's: the less is left, the less of it is anybody's. */
  #room(owner: string): string {
    const held = this.#held.get(owner) ?? 0;
    const left = this.#capacity - this.#known.size;
    if (held >= left) {
      throw new Error(
        `SingleUse: expected room for one more of a principal with ${held} ids, found ${left} of ` +
          `${this.#capacity} left; give it a larger capacity`,
      );
    }
    this.#held.set(owner, held + 1);
    return owner;
  }

  /** Forgets what opens nowhere any more, once a second. */
  #forget(): void {
    const now = Math.floor(Date.now() / 1000);
    if (now === this.#forgotten) return;
    this.#forgotten = now;
    for (const [second, names] of this.#due) {
      if (second > now) continue;
      this.#due.delete(second);
      for (const name of names) {
        const known = this.#known.get(name);
        if (known?.end !== second) continue;
        this.#known.delete(name);
        const held = (this.#held.get(known.owner) ?? 0) - 1;
        if (held > 0) this.#held.set(known.owner, held);
        else this.#held.delete(known.owner);
      }
    }
  }
}

function nameOf({ kind, id }: Accepted): string {
  return `${kind} ${id}`;
}

/** The same text for the same principal, and for no other. */
function ownerOf(principal: Principal): string {
  return JSON.stringify(partsOf(principal));
}
