package io.github.sealwax.internal;

import io.github.sealwax.InvalidArgumentException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Texts as the UTF-8 that the ABI takes. */
public final class Text {
  /** A byte that is in no UTF-8, and so the text of nobody. */
  private static final byte[] NO_TEXT = {(byte) 0xFF};

  private Text() {}

  /**
   * Returns a text of the author's.
   *
   * @throws InvalidArgumentException for a lone surrogate
   */
  public static byte[] bytes(String name, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (hasLoneSurrogate(bytes, text)) {
      throw new InvalidArgumentException(name + ": expected Unicode without lone surrogates");
    }
    return bytes;
  }

  /** Returns a text of the author's, if there is one. */
  public static byte @Nullable [] optional(String name, @Nullable String text) {
    return text == null ? null : bytes(name, text);
  }

  /** Returns a number without a sign in decimal digits, if there is one. */
  public static byte @Nullable [] decimal(@Nullable Long number) {
    return number == null
        ? null
        : Long.toUnsignedString(number).getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns a text of a client's; with a lone surrogate, what the core takes for no text. */
  public static byte[] untrusted(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return hasLoneSurrogate(bytes, text) ? NO_TEXT.clone() : bytes;
  }

  /** A lone surrogate has become a question mark in the bytes. */
  private static boolean hasLoneSurrogate(byte[] bytes, String text) {
    for (byte each : bytes) {
      if (each == '?') {
        return text.codePoints()
            .anyMatch(
                point -> point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE);
      }
    }
    return false;
  }
}
