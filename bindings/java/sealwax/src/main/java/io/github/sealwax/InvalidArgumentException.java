package io.github.sealwax;

import java.io.Serial;

/** The caller's own mistake; the message says what was expected. */
public final class InvalidArgumentException extends SealwaxException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes one with a message. */
  public InvalidArgumentException(String message) {
    super(Code.INVALID_ARGUMENT, message, null);
  }
}
