// The ledger of a transcript: the package's own in memory, whose answers may be lost.

import { MemoryLedger } from 'sealwax/mcp';
import { at } from './transcript-world.mjs';

/** How long it has remembered, unless a transcript says otherwise. */
const HOUR = 3600;

export class ScriptedLedger {
  local;
  options;
  #stage;
  #memory;
  #fails;
  #lost = {};

  constructor(stage, kind, { since = HOUR, local = true, ...options } = {}) {
    const { clockTolerance, acceptIssuedSince, reusableRequestState } = options;
    this.#stage = stage;
    this.#fails = kind === 'failing';
    this.#memory = at(since, () => new MemoryLedger());
    this.local = local;
    this.options = {
      clockTolerance,
      acceptIssuedSince: acceptIssuedSince && Math.floor(Date.now() / 1000) - acceptIssuedSince,
      reusableRequestState,
    };
  }

  /** Brings about what an event says of it. */
  before({ forgets, lost }) {
    if (forgets) this.#memory = new MemoryLedger();
    this.#lost = { ...this.#lost, ...lost };
  }

  async run(command) {
    const { script } = command;
    // When it is opened is the SDK's.
    if (script !== 'open') {
      this.#stage.found.commands.push(script);
      if (this.#fails) throw new Error('the store is down');
    }
    const reply = this.#memory.run(command);
    if (!this.#lost[script]) return reply;
    this.#lost[script] -= 1;
    throw new Error('the answer is lost');
  }
}
