package io.github.sealwax.mcp;

import java.util.concurrent.CompletionStage;

/**
 * Decides whether to accept a verified token, and records what ends: a rule of the author's own.
 *
 * <p>To record used and ended tokens, use a {@link Ledger}. If a stage fails, or takes longer than
 * the guard's time limit, the request is refused as an internal error, so that the client keeps its
 * token.
 */
public interface Accept {
  /**
   * Returns whether to accept a token.
   *
   * @param presented the token
   * @return the answer, at once or later
   */
  CompletionStage<Boolean> accept(Presented presented);

  /**
   * Records that a token ended: it must not be accepted again.
   *
   * @param presented the token
   * @return completes when it is recorded
   */
  CompletionStage<Void> ended(Presented presented);
}
