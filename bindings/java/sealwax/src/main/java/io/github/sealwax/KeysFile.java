package io.github.sealwax;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The watch of a file of keys: a thread that gives its codec the file's keys when they change. */
final class KeysFile implements Runnable, AutoCloseable {
  private static final System.Logger LOGGER = System.getLogger("sealwax");

  private final WeakReference<Codec> codec;
  private final Path path;
  private final Duration interval;
  private final CountDownLatch end = new CountDownLatch(1);
  private String fault = "";

  private KeysFile(Codec codec, Path path, Duration interval) {
    this.codec = new WeakReference<>(codec);
    this.path = path;
    this.interval = interval;
  }

  /** Follows a file until its codec is closed or collected. */
  static KeysFile watch(Codec codec, Path path, Duration interval) {
    KeysFile watch = new KeysFile(codec, path, interval);
    Thread thread = new Thread(watch, "sealwax-keys");
    thread.setDaemon(true);
    thread.start();
    return watch;
  }

  @Override
  public void run() {
    try {
      while (!end.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
        if (!read()) {
          return;
        }
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns whether the codec is still there. A method of its own: no variable of the loop keeps
   * it.
   */
  private boolean read() {
    Codec found = codec.get();
    if (found != null) {
      read(found);
    }
    return found != null;
  }

  private void read(Codec found) {
    String before = fault;
    fault = "";
    KeyRing ring;
    try {
      ring = KeySource.read(path);
    } catch (InvalidKeyException refused) {
      fault = String.valueOf(refused.getMessage());
      if (!fault.equals(before)) {
        log(
            System.Logger.Level.WARNING,
            refused.code().toString(),
            fault + "; the present keys stay in use");
      }
      return;
    }
    if (found.setKeys(ring) || !before.isEmpty()) {
      List<String> ids = ring.ids();
      log(
          System.Logger.Level.INFO,
          "keys_changed",
          "keys file " + path + ": " + ids.get(0) + " seals, " + String.join(" ", ids) + " open");
    }
  }

  private static void log(System.Logger.Level level, String code, String message) {
    LOGGER.log(level, "sealwax: " + code + " message=\"" + message + "\"");
  }

  @Override
  public void close() {
    end.countDown();
  }
}
