package io.github.sealwax;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.Intercepted;
import io.github.sealwax.internal.Library;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Keys in a file that a codec follows. */
class KeysFileTest {
  private static final Duration OFTEN = Duration.ofMillis(5);
  private static final Logger LOGGER = Logger.getLogger("sealwax");

  private final Key first = Key.generate();
  private final Key second = Key.generate();
  private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
  private volatile boolean logFails;

  @TempDir Path folder;
  private Path path;

  @BeforeEach
  void begin() throws IOException {
    LOGGER.setFilter(this::hears);
    path = folder.resolve("keys");
    replace(first.toText());
  }

  @AfterEach
  void end() {
    LOGGER.setFilter(null);
  }

  private boolean hears(LogRecord entry) {
    if (logFails) {
      logFails = false;
      throw new IllegalStateException("logger");
    }
    said.add(entry.getLevel() + " " + entry.getMessage());
    return false;
  }

  private void replace(String text) throws IOException {
    Path next = folder.resolve("next");
    Files.writeString(next, text);
    Files.move(next, path, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  private CodecBuilder watching() {
    return Codec.builder("a").keysFile(path).keysInterval(OFTEN);
  }

  private static String sealer(Codec codec) {
    String token = codec.view(Principal.subject("alice")).session().seal(new byte[1]);
    return ((Inspected.Token) Inspected.of(token)).keyId();
  }

  @Test
  void aCodecFollowsItsFile() throws Exception {
    try (Codec codec = watching().build()) {
      assertEquals(first.id(), sealer(codec));
      replace(second.toText() + "\n" + first.toText() + " # since May\n");
      String line = said.take();
      String changed = "INFO sealwax: keys_changed message=\"keys file %s: %s seals";
      assertTrue(line.startsWith(changed.formatted(path, second.id())), line);
      assertEquals(second.id(), sealer(codec));

      replace("swk1_nonsense");
      line = said.take();
      assertTrue(line.startsWith("WARNING sealwax: invalid_key message=\"keys file "), line);
      assertTrue(line.endsWith("; the present keys stay in use\""), line);
      assertEquals(second.id(), sealer(codec));

      Files.delete(path);
      assertTrue(said.take().contains("NoSuchFileException"));
      replace(first.toText());
      assertTrue(said.take().startsWith("INFO"));
      assertEquals(first.id(), sealer(codec));
    }
  }

  /** The first change fails in the core; the logger fails at what is said of it. */
  @Test
  @Timeout(60)
  void nothingElseEndsAWatch() throws Exception {
    AtomicInteger faults = new AtomicInteger(1);
    Library library =
        Library.of(
            () ->
                Intercepted.instance(
                    (name, arguments) -> {
                      if (Intercepted.setsKeys(name, arguments) && faults.getAndDecrement() > 0) {
                        throw new StackOverflowError("a fault");
                      }
                      return null;
                    }),
            1);
    try (Codec codec = Access.build(watching(), library)) {
      logFails = true;
      while (logFails) {
        Thread.sleep(5);
      }
      replace(second.toText());
      // The change that failed is tried again, before that or not.
      String line = said.take();
      while (!line.contains(second.id() + " seals")) {
        line = said.take();
      }
      assertTrue(line.startsWith("INFO sealwax: keys_changed "), line);
      assertEquals(second.id(), sealer(codec));
    }
  }

  @Test
  void aWatchEndsWithItsCodec() throws Exception {
    long before = watches();
    Codec codec = watching().build();
    watching().build();
    while (watches() != before + 1) {
      // The one that nobody holds.
      System.gc();
      Thread.sleep(5);
    }
    codec.close();
    while (watches() != before) {
      Thread.sleep(5);
    }
  }

  private static long watches() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("sealwax-keys"))
        .count();
  }

  @Test
  void aFileThatIsNoRing() throws IOException {
    CodecBuilder settings = Codec.builder("a").keysFile(path);
    replace("swk1_x");
    var none = assertThrows(InvalidKeyException.class, settings::build);
    assertTrue(none.getMessage().startsWith("keys file " + path + ": "), none.getMessage());
    Files.delete(path);
    assertThrows(InvalidKeyException.class, settings::build);
    assertThrows(InvalidKeyException.class, () -> KeyRing.read(folder));
  }

  @Test
  void keysAreGivenInOneWay() {
    var keys = java.util.Map.of("SEALWAX_KEYS", second.toText());
    for (CodecBuilder settings :
        java.util.List.of(
            Codec.builder("a"),
            Codec.builder("a").keys(first).keysFile(path),
            Codec.builder("a").keys(first).keysFrom(keys),
            Codec.builder("a").keysFrom(keys).keys(first),
            Codec.builder("a").keysFrom(keys).keysFile(path),
            Codec.builder("a").keysFile(path).keysFrom(keys))) {
      assertThrows(InvalidArgumentException.class, settings::build);
    }
    assertEquals(second.id(), sealer(Codec.builder("a").keysFrom(keys).build()));
  }
}
