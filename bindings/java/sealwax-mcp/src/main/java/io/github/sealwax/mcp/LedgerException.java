package io.github.sealwax.mcp;

/**
 * The store failed to answer, or cannot be a ledger. The message goes to the log: it holds no
 * credential.
 */
public final class LedgerException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes one.
   *
   * @param message the reason, without a credential
   */
  public LedgerException(String message) {
    super(message);
  }
}
