/** A cache of a codec's most recent views, so that the next request of a user computes no tags. */

import { Owned } from './owned.js';
import type * as raw from './raw.js';

/** The number of principals. */
const ROOM = 64;

interface Kept {
  readonly view: raw.View;
  /** The number of users that have not freed it. */
  users: number;
}

export class Views {
  /** By the parts of a principal, the most recent last. */
  readonly #kept = new Map<string, Kept>();

  /** Returns the view of a principal; `make` creates it if it is not cached. */
  take(parts: readonly (string | undefined)[], make: () => raw.View): Owned<raw.View> {
    // The lengths mark where each part ends, and `undefined` an absent one.
    const name = `${parts.map((part) => part?.length)}:${parts.join('')}`;
    const kept = this.#kept.get(name) ?? { view: make(), users: 0 };
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    if (this.#kept.size > ROOM) this.#forget(this.#kept.keys().next().value as string);
    kept.users += 1;
    return new Owned('view', kept.view, () => {
      kept.users -= 1;
      if (this.#kept.get(name) !== kept && kept.users === 0) kept.view.free();
    });
  }

  /** Empties the cache. A view in use is freed by its user, or when it is collected. */
  clear(): void {
    for (const name of [...this.#kept.keys()]) this.#forget(name);
  }

  #forget(name: string): void {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    if (kept?.users === 0) kept.view.free();
  }
}
