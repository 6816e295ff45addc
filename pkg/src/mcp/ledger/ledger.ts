import { checked, count } from '../../input.js';
import { Machine, MEMORY, RUN } from '../../machine.js';
import { WIDE } from '../../module.js';

/** A command to a ledger: one atomic step. LEDGER.md defines its reply. */
export interface Command {
  readonly script: 'open' | 'admit' | 'commit' | 'revoke';
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** How long it may take, in milliseconds: 300 by default. */
  readonly withinMs?: number | undefined;
}

/** Settings of a guard's ledger. */
export interface LedgerOptions {
  /** Separates two ledgers of one audience in one store. */
  readonly label?: string | undefined;
  /**
   * How far the clocks of the replicas and of the store may differ, in seconds: 5 by default, and 0 if the
   * ledger is on this machine.
   */
  readonly clockTolerance?: number | undefined;
  /**
   * Accepts tokens that are older than the ledger if they were made at this time or later, in Unix seconds:
   * for the introduction of a ledger. This includes what ended before it, but no `requestState`, which could
   * have been used.
   */
  readonly acceptIssuedSince?: number | undefined;
  /** Whether a `requestState` may be used more than once. */
  readonly reusableRequestState?: boolean | undefined;
}

/**
 * Records used tokens, ended sessions and the latest state of each session. LEDGER.md defines the commands
 * and replies. {@link MemoryLedger} is for one process, {@link SqliteLedger} for one machine,
 * {@link RedisLedger} for several.
 */
export interface Ledger {
  /** Runs a command as one atomic step. The request is refused if it throws or is late. */
  run(command: Command): readonly string[] | PromiseLike<readonly string[]>;
  /** Whether it is on this machine, and so shares its clock. */
  readonly local?: boolean | undefined;
  /** Warnings about a store that may lose records, once they are known. The guard logs them. */
  readonly warnings?: readonly string[] | undefined;
}

/** An error whose message is our own: it may be logged. */
export class LedgerFailure extends Error {}

/** The store cannot be a ledger, because it would lose records. The message tells what to change. */
export class LedgerUnfit extends LedgerFailure {
  override readonly name = 'LedgerUnfit';
}

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
