package io.github.sealwax;

import java.io.Serial;

/** The system gave no randomness, so nothing was sealed. */
public final class EntropyUnavailableException extends SealwaxException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes one with a message. */
  public EntropyUnavailableException(String message) {
    super(Code.ENTROPY_UNAVAILABLE, message, null);
  }
}
