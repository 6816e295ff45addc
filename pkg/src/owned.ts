/** An object in the module's memory, until it is freed. */

import { invalidArgument } from './error.js';
import { entered } from './module.js';

export class Owned<T extends { free(): void }> {
  readonly #name: string;
  readonly #release: (raw: T) => void;
  #raw: T | undefined;

  constructor(name: string, raw: T, release = (raw: T): void => raw.free()) {
    this.#name = name;
    this.#raw = raw;
    this.#release = release;
  }

  get(): T {
    return entered(this.held());
  }

  /** Returns the object for a call that finds room on the stack by itself. */
  held(): T {
    if (this.#raw === undefined) throw invalidArgument(`${this.#name}: was freed already`);
    return this.#raw;
  }

  free(): void {
    if (this.#raw === undefined) return;
    const raw = entered(this.#raw);
    this.#raw = undefined;
    this.#release(raw);
  }
}
