package io.github.sealwax;

import io.github.sealwax.internal.Secret;
import io.github.sealwax.internal.Text;
import org.jspecify.annotations.Nullable;

/**
 * A secret key, which is never printed.
 *
 * <p>It stays on Java's heap until it is collected: Java cannot wipe it.
 */
public final class Key implements Keys {
  final Secret secret;

  private Key(Secret secret) {
    this.secret = secret;
  }

  /** Makes a key from the system's randomness. */
  public static Key generate() {
    return new Key(Secret.generate());
  }

  /**
   * Reads a key text; its checksum detects typing errors.
   *
   * @throws InvalidKeyException if it is none
   */
  public static Key parse(String keyText) {
    return new Key(Secret.parse(Text.bytes("keyText", keyText)));
  }

  /**
   * Derives a key from a secret that is there, which is never decoded: a generated text of 32
   * characters and more, such as a framework's {@code SECRET_KEY}, 64 hexadecimal digits or 44
   * characters of base64; never a passphrase. The key is the same in every language.
   *
   * @throws InvalidKeyException for fewer characters, white space, one character repeated, and the
   *     text of a key
   */
  public static Key derive(String secret) {
    return new Key(Secret.derive(Text.bytes("secret", secret)));
  }

  /**
   * Makes a key from 32 existing random bytes or more, never from a passphrase.
   *
   * @throws InvalidKeyException for fewer bytes, bytes that are all equal, and printable ASCII
   *     alone
   */
  public static Key fromSecret(byte[] secret) {
    return new Key(Secret.of(secret));
  }

  /** Returns the key's public id, 8 hex digits: readable in every token that the key seals. */
  public String id() {
    return secret.id();
  }

  /**
   * Returns the key's text, for {@code SEALWAX_KEYS}: as secret as the key itself. {@code null} for
   * an imported secret of more than 32 bytes, which has no text form.
   */
  public @Nullable String toText() {
    return secret.text();
  }

  /** Returns its id. */
  @Override
  public String toString() {
    return "Key " + id();
  }
}
