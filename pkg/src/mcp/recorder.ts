import type { Principal } from '../principal.js';
import type { Told } from './caller.js';
import type { Command, Engine } from './engine.js';
import { attempt, isPromiseLike, Late, Patience } from './later.js';
import { type Ledger, LedgerUnfit } from './ledger.js';
import { printable } from './quoted.js';

/** How long one command may take, in seconds. The engine tries it once more. */
const COMMAND = 0.3;
/** What a fail-over may undo. */
export const UNCONFIRMED = 'no replica confirmed it: a fail-over would forget it';

/** How long all of what an operator asks may take, in seconds. */
const OPERATOR = 1;

type Reply = readonly string[];

/** The guard's side of its ledger: asked in time, and never taken for a yes. */
export class Recorder {
  readonly #ledger: Ledger;
  readonly #engine: Engine;
  readonly #warn: (line: string) => unknown;

  constructor(ledger: Ledger, engine: Engine, warn: (line: string) => unknown) {
    this.#ledger = ledger;
    this.#engine = engine;
    this.#warn = warn;
  }

  /** Has the ledger do a command, and gives the reply as an event has it. */
  record({ script, keys, args }: Command, patience: Patience): Told | Promise<Told> {
    return attempt<Reply, Told>(
      () => this.#asked({ script, keys, args }, patience),
      (ledger) => {
        if (script === 'open') this.#warned();
        return { event: { ledger } };
      },
      (cause) => ({ event: { ledger: { failed: `ledger: ${why(cause)}` } } }),
    );
  }

  #asked(command: Command, patience: Patience): Reply | Promise<Reply> {
    const reply = this.#ledger.run(command);
    if (!isPromiseLike(reply)) return texts(reply);
    return patience.wait(new Patience(COMMAND).wait(reply)).then(texts);
  }

  #warned(): void {
    for (const warning of this.#ledger.warnings ?? []) this.#warn(`sealwax: ledger: ${warning}`);
  }

  /**
   * Refuses whatever of a principal began until now. Gives whether a fail-over would keep that, as far as
   * is known.
   *
   * @throws where the ledger does not take it
   */
  async revoke(principal: Principal, lives?: number): Promise<boolean> {
    const command = this.#engine.revoke(principal, lives);
    const patience = new Patience(OPERATOR);
    const asked = async () => this.#asked(command, patience);
    // The same again is no second revocation.
    const reply = await asked()
      .catch(asked)
      .catch((cause) => {
        throw new Error(`ledger: ${why(cause)}`);
      });
    const [verdict = 'nothing', confirm, unconfirmed] = reply;
    if (verdict !== 'ok') throw new Error(`ledger: expected ok, found ${printable(verdict)}`);
    if (unconfirmed === undefined) return true;
    if (confirm === '2') throw new Error(`ledger: ${UNCONFIRMED}`);
    return false;
  }
}

/** A ledger's author may give anything. */
function texts(reply: unknown): Reply {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/**
 * Why there was no reply, in words of ours: what the client of a store says may hold its credentials, so of
 * that there is only a code.
 */
function why(cause: unknown): string {
  if (cause instanceof LedgerUnfit) return cause.message;
  if (cause instanceof Late) return 'expected an answer in time, found none';
  const { errstr, code, message, constructor: made } = Object(cause);
  // As Redis has it, such as OOM, if it was in a script too; ERR says nothing.
  const [, word] = /(?:^|: )(?!ERR )([A-Z]{3,}) /.exec(message) ?? [];
  const names = [errstr, word, code, made?.name];
  const found = names.find((name) => typeof name === 'string' && /^[\w -]{1,60}$/.test(name));
  return `expected an answer, found ${found ?? 'an error'}`;
}
