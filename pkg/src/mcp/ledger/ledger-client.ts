import type { Outcome } from '../caller.js';
import type { Command } from '../engine.js';
import { attempt, isPromiseLike, TimeLimit, TimeoutError } from '../later.js';
import { type Ledger, LedgerFailure } from './ledger.js';

type Reply = readonly string[];

/** The guard's client of its ledger: a failure or a late reply never accepts a token. */
export class LedgerClient {
  readonly #ledger: Ledger;
  readonly #seconds: number;
  readonly #warn: (line: string) => unknown;
  #hasWarned = false;

  /** One command may take three tenths of `limit`, in seconds, so that the engine can try it once more. */
  constructor(ledger: Ledger, limit: number, warn: (line: string) => unknown) {
    this.#ledger = ledger;
    this.#seconds = 0.3 * limit;
    this.#warn = warn;
  }

  /** Runs a command on the ledger and returns its reply as an event. */
  record({ script, keys, args }: Command, limit: TimeLimit): Outcome | Promise<Outcome> {
    return attempt<Reply, Outcome>(
      () => this.#asked({ script, keys, args }, limit),
      (ledger) => {
        this.#warnOnce();
        return { event: { ledger } };
      },
      (cause) => ({ event: { ledger: { failed: `ledger: ${why(cause)}` } } }),
    );
  }

  #asked(command: Command, limit: TimeLimit): Reply | Promise<Reply> {
    const reply = this.#ledger.run(command);
    if (!isPromiseLike(reply)) return texts(reply);
    return limit.wait(new TimeLimit(this.#seconds).wait(reply)).then(texts);
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    for (const warning of this.#ledger.warnings ?? []) this.#warn(`sealwax: ledger: ${warning}`);
  }
}

/** Converts the reply of a ledger, which may be of any type. */
function texts(reply: unknown): Reply {
  return Array.isArray(reply) ? reply.map(String) : [];
}

/**
 * Describes why there was no reply. A store client's message may contain credentials, so only its code is
 * used.
 */
function why(cause: unknown): string {
  if (cause instanceof LedgerFailure) return cause.message;
  if (cause instanceof TimeoutError) return 'expected an answer in time, found none';
  const { errstr, code, message, constructor: made } = Object(cause);
  // The error code of Redis, such as OOM, also from within a script; ERR has no meaning.
  const [, word] = /(?:^|: )(?!ERR )([A-Z]{3,}) /.exec(message) ?? [];
  const names = [errstr, word, code, made?.name];
  const found = names.find((name) => typeof name === 'string' && /^[\w -]{1,60}$/.test(name));
  return `expected an answer, found ${found ?? 'an error'}`;
}
