/** The views of a codec that were asked for last, so that a user's next request computes no tags again. */

import { Owned } from './owned.js';
import type * as raw from './raw.js';

/** Of so many principals. */
const ROOM = 64;

interface Kept {
  readonly view: raw.View;
  /** How many have it and did not free it. */
  users: number;
}

export class Views {
  /** By the parts of a principal; the one that was asked for last is the last. */
  readonly #kept = new Map<string, Kept>();

  /** The view of a principal. `make` makes it where none is kept. */
  take(parts: readonly (string | undefined)[], make: () => raw.View): Owned<raw.View> {
    // The lengths tell where a part ends, and `undefined` is none.
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

  /** Keeps none. What somebody has goes when it is freed, or collected. */
  clear(): void {
    for (const name of [...this.#kept.keys()]) this.#forget(name);
  }

  #forget(name: string): void {
    const kept = this.#kept.get(name);
    this.#kept.delete(name);
    if (kept?.users === 0) kept.view.free();
  }
}
