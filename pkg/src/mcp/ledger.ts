import { count, optional, options } from '../input.js';
import { core } from '../module.js';
import type * as raw from '../raw.js';
import type { Command } from './engine.js';

/**
 * Remembers that a token was used, that a session ended, and which of its states is the latest: LEDGER.md
 * says what it is asked and what it replies. {@link MemoryLedger} is for one process,
 * {@link SqliteLedger} for one machine, {@link RedisLedger} for a fleet.
 */
export interface Ledger {
  /** Does a command in one atomic step. What throws, or is late, refuses the request. */
  run(command: Command): readonly string[] | PromiseLike<readonly string[]>;
  /** Whether it is on this machine, so that there is one clock. */
  readonly local?: boolean | undefined;
  /** What its store may forget, once that is known: the guard logs it. */
  readonly warnings?: readonly string[] | undefined;
}

/** The store cannot be a ledger: it would forget. The message says what to change. */
export class LedgerUnfit extends Error {
  override readonly name = 'LedgerUnfit';
}

/**
 * A ledger in the memory of this process: no other replica knows of it, nor this one restarted. It
 * forgets nothing that is alive: where there is no room, whatever is new is refused, and one principal
 * fills at most half.
 *
 * It remembers from when it was made: what is older is refused where it is good once.
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
  readonly #room: number;
  #memory: raw.Memory | undefined;

  /** @param given `room`: about how many bytes it takes, 64 MiB unless set */
  constructor(given: { readonly room?: number | undefined } = {}) {
    const { room } = options(given, 'room');
    this.#room = optional(count, 'room', room) ?? 64 << 20;
    // At their global scope, Workers have no clock: it would remember since 1970.
    if (now() > 0) this.#memory = this.#made();
  }

  run(command: Command): readonly string[] {
    this.#memory ??= this.#made();
    return JSON.parse(this.#memory.run(JSON.stringify(command), now()));
  }

  #made(): raw.Memory {
    const { Memory } = core();
    return new Memory(this.#room, now());
  }
}

/** A text that stores need, by its name: a script, or a statement of SQLite. */
export function storeText(name: string): string {
  return core().ledgerText(name);
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}
