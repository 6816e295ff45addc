package io.github.sealwax;

import io.github.sealwax.internal.Ring;
import io.github.sealwax.internal.Text;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * 1 to 16 keys in order: the first seals, every one opens.
 *
 * <p>To rotate keys, give every replica the new key before it seals, and keep the old one until its
 * tokens have expired: {@code [old, new]} everywhere, then {@code [new, old]}, then {@code [new]}.
 */
public final class KeyRing implements Keys {
  final Ring ring;

  private KeyRing(Ring ring) {
    this.ring = ring;
  }

  /**
   * Makes a ring of keys, and of the keys of rings, the sealing one first.
   *
   * @throws InvalidKeyException unless there are 1 to 16, each once
   */
  public static KeyRing of(Keys... keys) {
    return of(Arrays.asList(keys));
  }

  /**
   * Makes a ring of keys, and of the keys of rings, the sealing one first.
   *
   * @throws InvalidKeyException unless there are 1 to 16, each once
   */
  public static KeyRing of(List<? extends Keys> keys) {
    return new KeyRing(Ring.join(keys.stream().map(KeyRing::ringOf).toList()));
  }

  private static Ring ringOf(@Nullable Keys keys) {
    if (keys == null) {
      throw new InvalidKeyException("keys: expected a Key or a KeyRing, found null");
    }
    return keys instanceof Key key ? Ring.of(key.secret) : ((KeyRing) keys).ring;
  }

  static KeyRing of(Ring ring) {
    return new KeyRing(ring);
  }

  /**
   * Reads key texts separated by commas or white space. {@code #} and what follows in its line is a
   * comment.
   *
   * @throws InvalidKeyException if it is no valid ring
   */
  public static KeyRing parse(String ringText) {
    return parse(Text.bytes("ringText", ringText));
  }

  static KeyRing parse(byte[] ringText) {
    return new KeyRing(Ring.parse(ringText));
  }

  /**
   * Reads the ring in a file.
   *
   * @throws InvalidKeyException if the file cannot be read, or holds no valid ring
   */
  public static KeyRing read(Path path) {
    return KeySource.read(path);
  }

  /**
   * Reads the ring of the environment: that of the file that {@code SEALWAX_KEYS_FILE} names, that
   * of {@code SEALWAX_KEYS}, or one {@linkplain Key#derive derived} from {@code SEALWAX_SECRET} and
   * {@code SEALWAX_SECRET_FALLBACKS}, earlier ones, separated by white space. {@link Codec#fromEnv}
   * also follows the file.
   *
   * @throws InvalidKeyException if none is set, or more than one, or there is no valid ring
   */
  public static KeyRing fromEnv() {
    return KeySource.ofEnvironment(System.getenv()).read();
  }

  /** Returns the ids of the keys, the sealing one first. */
  public List<String> ids() {
    return ring.ids();
  }

  /** Returns the ids. */
  @Override
  public String toString() {
    return "KeyRing " + String.join(" ", ids());
  }
}
