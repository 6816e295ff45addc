import { checked, count } from '../../input.js';
import { Machine, MEMORY, RUN } from '../../machine.js';
import { WIDE } from '../../module.js';
import type { Command, Ledger } from './ledger.js';

/**
 * A ledger in the memory of this process. Other replicas do not share it, and a restart loses it. It never
 * drops a record in use: when it is full, new ones are refused. One principal can fill at most half of it.
 *
 * A single-use token that is older than the ledger is refused.
 *
 * @example
 * ```js
 * import { Codec, Key } from 'sealwax';
 * import { Guard, MemoryLedger } from 'sealwax/mcp';
 *
 * const codec = new Codec({ keys: Key.generate().toText(), audience: 'https://mcp.example.com' });
 * const guard = new Guard({ codec, principal: 'anonymous', ledger: new MemoryLedger() });
 * await guard.revoke({ subject: 'alice' }); // signs her out everywhere
 * ```
 */
export class MemoryLedger implements Ledger {
  readonly local = true;
  readonly #capacity: number;
  readonly #clock: () => number;
  #memory: Machine | undefined;

  /** @param given `capacity`: its approximate size in bytes, 64 MiB by default */
  constructor(given?: { readonly capacity?: number | undefined });
  /** @internal */
  constructor(given?: { readonly capacity?: number | undefined }, clock?: () => number);
  constructor(given: { readonly capacity?: number | undefined } = {}, clock = () => Date.now()) {
    const { capacity = 64 << 20 } = checked(given, { capacity: count });
    this.#capacity = capacity;
    this.#clock = clock;
    // Workers have no clock in their global scope: it would record since 1970.
    if (this.#now() > 0) this.#memory = this.#made();
  }

  run(command: Command): readonly string[] {
    this.#memory ??= this.#made();
    const texts = [JSON.stringify(command), `${this.#now()}`];
    return JSON.parse(this.#memory.tell({ kind: RUN, texts }, WIDE).text as string);
  }

  #made(): Machine {
    const texts = [`${this.#capacity}`, `${this.#now()}`];
    return new Machine(undefined, { kind: MEMORY, texts }).kept();
  }

  #now(): number {
    return Math.floor(this.#clock() / 1000);
  }
}
