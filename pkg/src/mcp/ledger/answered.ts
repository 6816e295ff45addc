import type { Command } from '../../documents.js';
import type { Outcome } from '../caller.js';
import { failure } from '../cause.js';
import { attempt, within } from '../later.js';
import type { Policy } from '../policy.js';
import { LedgerFailure } from './ledger.js';

/** Runs a command on the guard's ledger. A failure or a late reply never accepts a token. */
export function answered(
  policy: Policy,
  { script, keys, args, withinMs }: Command,
): Outcome | Promise<Outcome> {
  return attempt<unknown, Outcome>(
    () => within(withinMs, policy.ledger?.run({ script, keys, args, withinMs })),
    (reply) => {
      policy.warnOfLedger();
      // It may be of any type.
      return { event: { ledger: Array.isArray(reply) ? reply.map(String) : [] } };
    },
    (cause) => {
      const why = cause instanceof LedgerFailure ? cause.message : failure(cause);
      return { event: { ledger: { failed: `ledger: ${why}` } } };
    },
  );
}
