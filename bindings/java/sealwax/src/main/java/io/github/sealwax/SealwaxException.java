package io.github.sealwax;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The reason why something failed: for the server's log, never for the client.
 *
 * <p>The client gets a fixed answer: {@link Answer}. No message holds a key, a token or a payload.
 */
public sealed class SealwaxException extends RuntimeException
    permits RefusedException,
        InvalidArgumentException,
        InvalidKeyException,
        EntropyUnavailableException,
        InternalErrorException {
  @Serial private static final long serialVersionUID = 1;

  private final Code code;

  SealwaxException(Code code, String message, @Nullable Throwable cause) {
    super(message, cause);
    this.code = code;
  }

  /** Returns what it is, for programs and logs. */
  public final Code code() {
    return code;
  }

  /** Returns the code and the message. */
  @Override
  @SuppressWarnings("OverrideThrowableToString") // The message is the same in every language.
  public String toString() {
    return getClass().getName() + ": " + code + ": " + getMessage();
  }
}
