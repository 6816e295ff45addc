/** Something in the module's memory, until it is freed. */

import { invalidArgument } from './error.js';

export class Owned<T extends { free(): void }> {
  readonly #name: string;
  #raw: T | undefined;

  constructor(name: string, raw: T) {
    this.#name = name;
    this.#raw = raw;
  }

  get(): T {
    if (this.#raw === undefined) throw invalidArgument(`${this.#name}: was freed already`);
    return this.#raw;
  }

  free(): void {
    this.#raw?.free();
    this.#raw = undefined;
  }
}
