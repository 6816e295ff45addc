package io.github.sealwax.internal;

import io.github.sealwax.InvalidKeyException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** What a key is made of, in any pooled instance: its text, or a secret. */
public final class Secret {
  private static final int TEXT = 53;
  private static final int ID = 4;

  private final Function parser;
  private final byte[] content;
  private final String id;

  private Secret(Call x, Function parser, byte[] content) {
    this.parser = parser;
    this.content = content;
    long key = make(x);
    try {
      long place = x.room(ID);
      x.call(Function.KEY_ID, key, place);
      id = HexFormat.of().formatHex(x.read(place, ID));
    } finally {
      x.plain(Function.KEY_FREE, key);
    }
  }

  /** Generates a key from the system's randomness. */
  public static Secret generate() {
    return Library.shared()
        .call(
            x -> {
              long place = x.room(x.pointerSize());
              x.call(Function.KEY_GENERATE, place);
              long key = x.readWord(place);
              try {
                return new Secret(x, Function.KEY_PARSE, textOf(x, key));
              } finally {
                x.plain(Function.KEY_FREE, key);
              }
            });
  }

  /**
   * Reads the text of a key.
   *
   * @throws InvalidKeyException if it is none
   */
  public static Secret parse(byte[] text) {
    return Library.shared().call(x -> new Secret(x, Function.KEY_PARSE, text));
  }

  /**
   * Derives a key from the text of a secret.
   *
   * @throws InvalidKeyException for one that is plainly none
   */
  public static Secret derive(byte[] text) {
    return Library.shared().call(x -> new Secret(x, Function.KEY_DERIVE, text));
  }

  /**
   * Imports a secret, which is copied.
   *
   * @throws InvalidKeyException for one that is plainly none
   */
  public static Secret of(byte[] secret) {
    return Library.shared().call(x -> new Secret(x, Function.KEY_FROM_SECRET, secret.clone()));
  }

  /** Returns the key's public id, 8 hex digits. */
  public String id() {
    return id;
  }

  /** Returns the key's text, if it has one. */
  public @Nullable String text() {
    byte[] text =
        Library.shared()
            .call(
                x -> {
                  long key = make(x);
                  try {
                    return textOf(x, key);
                  } finally {
                    x.plain(Function.KEY_FREE, key);
                  }
                });
    return text.length == 0 ? null : new String(text, StandardCharsets.US_ASCII);
  }

  long make(Call x) {
    long place = x.room(x.pointerSize());
    x.withBytes(content).call(parser, place);
    return x.readWord(place);
  }

  private static byte[] textOf(Call x, long key) {
    Output out = x.output(TEXT);
    x.with(key).withOutput(out).call(Function.KEY_TO_TEXT);
    return out.bytes();
  }
}
