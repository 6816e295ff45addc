package io.github.sealwax.internal;

import io.github.sealwax.Code;
import io.github.sealwax.EntropyUnavailableException;
import io.github.sealwax.InternalErrorException;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.InvalidKeyException;
import io.github.sealwax.RefusedException;
import io.github.sealwax.SealwaxException;
import java.util.HashMap;
import java.util.Map;

/** The exceptions for the numbers of C. */
final class Failures {
  private static final int NULL_POINTER = 11;
  private static final int NOT_UTF8 = 12;
  private static final Map<Integer, Code> CODES = codes();

  private Failures() {}

  private static Map<Integer, Code> codes() {
    Map<Integer, Code> codes = new HashMap<>();
    for (Code code : Code.values()) {
      codes.put(code.status(), code);
    }
    codes.put(NULL_POINTER, Code.INVALID_ARGUMENT);
    codes.put(NOT_UTF8, Code.INVALID_ARGUMENT);
    return Map.copyOf(codes);
  }

  /** Returns the exception for a status other than 0. */
  static SealwaxException of(int status, String message) {
    Code code = CODES.getOrDefault(status, Code.INTERNAL_ERROR);
    return switch (code) {
      case INVALID_ARGUMENT -> new InvalidArgumentException(message);
      case INVALID_KEY -> new InvalidKeyException(message);
      case ENTROPY_UNAVAILABLE -> new EntropyUnavailableException(message);
      case INTERNAL_ERROR -> new InternalErrorException(message, null);
      default -> new RefusedException(code, message);
    };
  }
}
