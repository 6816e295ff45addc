import type { Principal } from '../principal.js';
import type { Told } from './caller.js';
import type { Command, Engine } from './engine.js';
import { attempt, Patience } from './later.js';
import { type Ledger, LedgerUnfit } from './ledger.js';

/** How long one command may take, in seconds. The engine tries it once more. */
const PATIENCE = 0.3;

/** The guard's side of its ledger: asked in time, and never taken for a yes. */
export class Recorder {
  readonly #ledger: Ledger;
  readonly #engine: Engine;
  #opened: Promise<unknown> | undefined;

  constructor(ledger: Ledger, engine: Engine) {
    this.#ledger = ledger;
    this.#engine = engine;
  }

  /** Has the ledger do a command, and gives the reply as an event has it. */
  record({ script, keys, args }: Command, patience: Patience): Told | Promise<Told> {
    return attempt<readonly string[], Told>(
      () => patience.wait(new Patience(PATIENCE).wait(this.run({ script, keys, args }))),
      (ledger) => ({ event: { ledger } }),
      (cause) => {
        // Another's message may hold the store's credentials.
        const why = cause instanceof LedgerUnfit ? cause.message : 'expected an answer in time';
        return { event: { ledger: { failed: `ledger: ${why}` } }, cause };
      },
    );
  }

  /** Does a command, after the ledger has begun to remember. */
  async run(command: Command): Promise<readonly string[]> {
    this.#opened ??= this.#open();
    await this.#opened;
    return this.#ledger.run(command);
  }

  async #open(): Promise<void> {
    try {
      await this.#ledger.run(this.#engine.openLedger());
    } catch (error) {
      this.#opened = undefined;
      throw error;
    }
  }

  /** Refuses whatever of a principal began until now. */
  async revoke(principal: Principal, lives?: number): Promise<void> {
    const [verdict] = await this.run(this.#engine.revoke(principal, lives));
    if (verdict !== 'ok') throw new LedgerUnfit(`expected ok, found ${verdict}`);
  }
}
