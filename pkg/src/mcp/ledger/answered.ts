import type { AskStep } from '../../documents.js';
import { failed } from '../cause.js';
import type { Told } from '../engine.js';
import { attempt, within } from '../later.js';
import type { Policy } from '../policy.js';
import { type Command, LedgerFailure } from './ledger.js';

/** Runs a command on the guard's ledger. A failure or a late reply never accepts a token. */
export function answered(policy: Policy, step: AskStep): Told | Promise<Told> {
  const { script, keys, args, withinMs } = step as Command & { withinMs: number };
  return attempt<unknown, Told>(
    () => within(withinMs, () => policy.ledger?.run({ script, keys, args, withinMs })),
    (reply) => {
      policy.warnOfLedger();
      // It may be of any type.
      return { value: JSON.stringify(Array.isArray(reply) ? reply.map(String) : []) };
    },
    (error) => {
      if (error instanceof LedgerFailure) return { wrong: error.message };
      return { ...failed(error), cause: undefined };
    },
  );
}
