package io.github.sealwax;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where the keys are, by the rules of {@code src/key_source.rs}: the portable module has no files.
 */
record KeySource(@Nullable Path file, @Nullable String text) {
  /** A file is larger than 16 keys and what may be said of them, or it is no file of keys. */
  private static final int MAX_LENGTH = 1 << 16;

  static KeySource ofEnvironment(Map<String, String> environment) {
    String file = environment.getOrDefault("SEALWAX_KEYS_FILE", "");
    String text = environment.getOrDefault("SEALWAX_KEYS", "");
    if (!file.isEmpty() && !text.isEmpty()) {
      throw new InvalidKeyException(
          "expected SEALWAX_KEYS or SEALWAX_KEYS_FILE, found both: remove one");
    }
    if (!file.isEmpty()) {
      checkNoKey(file);
      try {
        return new KeySource(Path.of(file), null);
      } catch (InvalidPathException invalid) {
        throw new InvalidKeyException("keys file " + file + ": " + invalid.getReason());
      }
    }
    if (text.isEmpty()) {
      throw new InvalidKeyException(
          "SEALWAX_KEYS is not set, nor is SEALWAX_KEYS_FILE: `sealwax keygen`, `npx sealwax keygen` "
              + "or `python -m sealwax keygen` makes a key");
    }
    return new KeySource(null, text);
  }

  KeyRing read() {
    return file != null ? read(file) : KeyRing.parse(text != null ? text : "");
  }

  /** Whoever takes one variable for the other is to find no key in a log. */
  private static void checkNoKey(String path) {
    if (path.contains("swk1_")) {
      throw new InvalidKeyException(
          "keys file: expected a path, found the text of a key: that belongs in SEALWAX_KEYS");
    }
  }

  static KeyRing read(Path path) {
    checkNoKey(path.toString());
    byte[] bytes;
    try (InputStream file = Files.newInputStream(path)) {
      bytes = file.readNBytes(MAX_LENGTH + 1);
    } catch (IOException failed) {
      throw invalid(path, failed.toString());
    }
    if (bytes.length > MAX_LENGTH) {
      throw invalid(path, "expected at most 65,536 bytes, found more");
    }
    try {
      return KeyRing.parse(bytes);
    } catch (SealwaxException refused) {
      throw invalid(path, refused.getMessage());
    }
  }

  /** Without the text, which is that of the keys. */
  @Override
  public String toString() {
    return "KeySource " + (file != null ? file : "SEALWAX_KEYS");
  }

  private static InvalidKeyException invalid(Path path, @Nullable String why) {
    return new InvalidKeyException("keys file " + path + ": " + why);
  }
}
