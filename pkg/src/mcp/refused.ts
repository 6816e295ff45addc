import type { SealwaxErrorCode } from '../error.js';
import type { Principal } from '../principal.js';
import type { Accepted } from './accept.js';
import type { Refusal } from './engine.js';
import { printable, quoted } from './quoted.js';

/** What was refused, or could not be sealed, for the author's eyes only. */
export interface Refused {
  /**
   * Why: a code of {@link SealwaxError}, or what {@link Accept} or the {@link Ledger} said, or that it said
   * nothing. `ledger_unconfirmed` is no refusal: no replica of the store has what ended.
   */
  readonly code:
    | SealwaxErrorCode
    | 'not_accepted'
    | 'accept_unavailable'
    | 'used'
    | 'ended'
    | 'revoked'
    | 'unknown'
    | 'stale'
    | 'ledger_unavailable'
    | 'ledger_unconfirmed';
  /** What it was. */
  readonly kind: Accepted['kind'];
  /** The token id, or the ulid of a handle or a session, where it can be told. Verified only if it opened. */
  readonly tokenId?: string;
  /** Who presented it, where that is known. */
  readonly principal?: Principal;
  /** What was expected and what was found. It holds no token, no key and no payload. */
  readonly message: string;
  /** What a function of the author's threw, if it was that. */
  readonly cause?: unknown;
}

/** Where refusals are told. */
export interface Listener {
  readonly onRefused: ((event: Refused) => unknown) | undefined;
  readonly logger: { warn(message: string): void };
}

/** What the adapter knows beside. */
export interface Circumstances {
  readonly method: unknown;
  readonly principal: Principal | undefined;
  readonly cause: unknown;
}

export function tell(listener: Listener, refusal: Refusal, known: Circumstances): void {
  const { kind, tokenId } = refusal;
  const { method, principal, cause } = known;
  const code = refusal.code as Refused['code'];
  // The author's own mistakes are in no method.
  const where =
    typeof method === 'string' && code !== 'invalid_argument' ? `${quoted(method)}: ` : '';
  const message = where + printable(refusal.message);
  const id = tokenId === undefined ? '' : ` ${tokenId}`;
  quietly(() => listener.logger.warn(`sealwax: ${kind}${id}: ${code}: ${message}`));
  quietly(() =>
    listener.onRefused?.({
      ...{ code, kind, message },
      ...(tokenId !== undefined && { tokenId }),
      ...(principal !== undefined && { principal }),
      ...(cause !== undefined && { cause }),
    }),
  );
}

/** Runs what must not change the answer, whatever it throws, and whenever. */
export async function quietly(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch {
    // There is nobody left to tell.
  }
}
