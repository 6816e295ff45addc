import type { Command } from '../../documents.js';
import type { Outcome } from '../caller.js';
import { attempt, TimeoutError, within } from '../later.js';
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
    (cause) => ({ event: { ledger: { failed: `ledger: ${why(cause)}` } } }),
  );
}

/**
 * Describes why there was no reply. A store client's message may contain credentials, so only its code is
 * used.
 */
function why(cause: unknown): string {
  if (cause instanceof LedgerFailure) return cause.message;
  if (cause instanceof TimeoutError) return 'expected an answer in time, found none';
  const { errstr, code, message, constructor: made } = Object(cause);
  // The error code of Redis, such as NOAUTH; ERR has no meaning.
  const [, word] = /^(?!ERR )([A-Z]{3,}) /.exec(message) ?? [];
  const names = [errstr, word, code, made?.name];
  const found = names.find((name) => typeof name === 'string' && /^[\w -]{1,60}$/.test(name));
  return `expected an answer, found ${found ?? 'an error'}`;
}
