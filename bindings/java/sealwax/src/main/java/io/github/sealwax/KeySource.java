package io.github.sealwax;

import io.github.sealwax.internal.Ring;
import io.github.sealwax.internal.Text;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Where the keys are: in a file, or in variables of the environment. The portable module has
 * neither.
 */
record KeySource(@Nullable Path file, @Nullable KeyRing ring) {
  /** A file is larger than 16 keys and what may be said of them, or it is no file of keys. */
  private static final int MAX_LENGTH = 1 << 16;

  private static final String FILE = "SEALWAX_KEYS_FILE";
  private static final List<String> VARIABLES =
      List.of("SEALWAX_KEYS", FILE, "SEALWAX_SECRET", "SEALWAX_SECRET_FALLBACKS");

  static KeySource ofEnvironment(Map<String, String> environment) {
    String variables =
        VARIABLES.stream()
            .map(name -> name + "=" + environment.getOrDefault(name, "") + "\0")
            .collect(Collectors.joining());
    Ring ring = Ring.ofVariables(Text.bytes("SEALWAX_KEYS, SEALWAX_SECRET", variables));
    if (!ring.ids().isEmpty()) {
      return new KeySource(null, KeyRing.of(ring));
    }
    String file = environment.getOrDefault(FILE, "");
    checkNoKey(file);
    try {
      return new KeySource(Path.of(file), null);
    } catch (InvalidPathException invalid) {
      throw new InvalidKeyException("keys file " + file + ": " + invalid.getReason());
    }
  }

  KeyRing read() {
    return ring != null ? ring : read(Objects.requireNonNull(file));
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

  private static InvalidKeyException invalid(Path path, @Nullable String why) {
    return new InvalidKeyException("keys file " + path + ": " + why);
  }
}
