package io.github.sealwax;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A fault in Sealwax itself. What was in progress in that pooled instance is lost; the next call
 * works.
 */
public final class InternalErrorException extends SealwaxException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes one with a message and what caused it. */
  public InternalErrorException(String message, @Nullable Throwable cause) {
    super(Code.INTERNAL_ERROR, message, cause);
  }
}
