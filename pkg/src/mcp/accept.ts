import type { Principal } from '../principal.js';

/** A token that an {@link Accept} decides on. */
export interface Accepted {
  /** The kind: `handle` is a reference handle, `handle-state` a self-contained one. */
  readonly kind: 'request-state' | 'cursor' | 'handle-state' | 'handle' | 'session';
  /** The token id, or the ulid of a reference handle or a data-layer session: 32 hex digits. */
  readonly id: string;
  /** The principal that it belongs to. */
  readonly principal: Principal;
  /**
   * The time from which no replica opens it, in whole Unix seconds: the end of its life, rounded up, plus
   * 300 seconds, the most that a replica's clock may be behind. `null` if it never ends.
   */
  readonly expiresAt: number | null;
}

/**
 * Decides whether a token is accepted, and learns when one ends. The guard asks only about tokens that are
 * authentic, of this caller and not expired.
 *
 * Returning `false` refuses the token. If `accept` throws, or takes longer than the guard's `timeLimit`,
 * the request fails with an error of the server, so that the client keeps its token.
 *
 * Use it for a rule of the application. To record used and ended tokens, use a {@link Ledger}.
 */
export interface Accept {
  accept(token: Accepted): boolean | PromiseLike<boolean>;
  ended(token: Accepted): void | PromiseLike<void>;
}
