package io.github.sealwax;

import java.io.Serial;

/** A key text or a ring that cannot be used. */
public final class InvalidKeyException extends SealwaxException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes one with a message. */
  public InvalidKeyException(String message) {
    super(Code.INVALID_KEY, message, null);
  }
}
