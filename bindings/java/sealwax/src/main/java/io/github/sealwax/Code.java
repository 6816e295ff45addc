package io.github.sealwax;

import java.util.Locale;

/**
 * The code of an error: the same in every language and every release. Its text is as in {@code
 * expired}.
 */
public enum Code {
  /** The caller's own mistake; the message says what was expected. */
  INVALID_ARGUMENT(10),
  /** A key text or a ring that cannot be used. */
  INVALID_KEY(20),
  /** The system gave no randomness, so nothing was sealed. */
  ENTROPY_UNAVAILABLE(30),
  /** A fault in Sealwax itself. */
  INTERNAL_ERROR(31),
  /** A token, or a payload, over its limit. */
  TOO_LARGE(40),
  /** A later version of the format, or a kind of token that version 1 does not define. */
  UNSUPPORTED(41),
  /** Not a token of this format, or not in its one valid spelling. */
  MALFORMED(42),
  /** A token of another kind, or a handle of another type, than asked for. */
  WRONG_PURPOSE(43),
  /** Sealed under a key that the ring does not hold: retired, or never known here. */
  UNKNOWN_KEY(50),
  /** Forged, altered, or bound to something else; these cannot be told apart. */
  UNAUTHENTIC(51),
  /** Authentic, but issued to somebody else. */
  PRINCIPAL_MISMATCH(52),
  /** Issued further in the future than the allowed clock tolerance. */
  NOT_YET_VALID(60),
  /** Past its own lifetime or the given maximum age. */
  EXPIRED(61);

  private final int status;

  Code(int status) {
    this.status = status;
  }

  /** Returns the number that C has for it. */
  public int status() {
    return status;
  }

  /** Returns the text of the code, such as {@code invalid_argument}. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
