/** A command to a ledger: one atomic step. LEDGER.md defines its reply. */
export interface Command {
  readonly script: 'open' | 'admit' | 'commit' | 'revoke';
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** How long it may take, in milliseconds: 300 by default. */
  readonly withinMs?: number | undefined;
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
