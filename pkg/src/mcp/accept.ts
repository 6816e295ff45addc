import type { Principal } from '../principal.js';

/** What a {@link Accept} is asked for. */
export interface Accepted {
  /** What it is: `handle` is a server-held one, `handle-state` one that holds its state. */
  readonly kind: 'request-state' | 'cursor' | 'handle-state' | 'handle' | 'session';
  /** The token id, or the ulid of a server-held handle or a data-layer session: 32 hex digits. */
  readonly id: string;
  /** Whose it is. */
  readonly principal: Principal;
  /**
   * From when on nothing of it opens anywhere, in whole Unix seconds: its end rounded up, and 300
   * more, which is the most that another replica's clock may be behind. `null` if it never ends.
   */
  readonly expiresAt: number | null;
}

/**
 * Asked before a token is accepted, and told when something ends. It is asked only for what is
 * authentic, of this user and in its time.
 *
 * `false` refuses the token. What throws, or takes longer than the guard's `acceptTimeout`, fails
 * closed too, but as the server's own trouble, so that the client keeps its token.
 *
 * It is for a rule of the author's own. What was used, and what ended, a {@link Ledger} remembers.
 */
export interface Accept {
  accept(token: Accepted): boolean | PromiseLike<boolean>;
  ended(token: Accepted): void | PromiseLike<void>;
}
