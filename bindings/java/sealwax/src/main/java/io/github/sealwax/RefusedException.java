package io.github.sealwax;

import java.io.Serial;

/**
 * A token was refused, as opposed to a mistake or a failure on the server's side. Only a refusal
 * may make a client discard its session. {@link #code} tells why.
 */
public final class RefusedException extends SealwaxException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes one with the code of a refusal and a message. */
  public RefusedException(Code code, String message) {
    super(code, message, null);
  }
}
