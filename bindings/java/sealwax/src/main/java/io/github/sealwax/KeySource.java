package io.github.sealwax;

import static java.nio.charset.StandardCharsets.UTF_8;

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
  /** One byte more than a file of keys may have. */
  private static final int MAX_LENGTH = (1 << 16) + 1;

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
    try {
      return new KeySource(Path.of(file), null);
    } catch (InvalidPathException invalid) {
      return new KeySource(null, of(file, new byte[0], invalid.getReason()));
    }
  }

  KeyRing read() {
    return ring != null ? ring : read(Objects.requireNonNull(file));
  }

  static KeyRing read(Path path) {
    byte[] bytes = new byte[0];
    String why = "";
    try (InputStream file = Files.newInputStream(path)) {
      bytes = file.readNBytes(MAX_LENGTH);
    } catch (IOException failed) {
      why = failed.toString();
    }
    return of(path.toString(), bytes, why);
  }

  private static KeyRing of(String path, byte[] bytes, String why) {
    return KeyRing.of(Ring.ofFile(path.getBytes(UTF_8), bytes, why.getBytes(UTF_8)));
  }
}
