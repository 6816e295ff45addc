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

  /** Whatever fails, the present keys stay in use, and the file is read again. */
  private void read(Codec found) {
    String before = fault;
    fault = "";
    try {
      KeyRing ring = KeySource.read(path);
      if (found.setKeys(ring) || !before.isEmpty()) {
        List<String> ids = ring.ids();
        String all = String.join(" ", ids);
        log(
            System.Logger.Level.INFO,
            "keys_changed",
            "keys file " + path + ": " + ids.get(0) + " seals, " + all + " open");
      }
    } catch (InvalidKeyException refused) {
      failed(before, refused.code(), String.valueOf(refused.getMessage()));
    } catch (RuntimeException | Error failure) {
      failed(before, Code.INTERNAL_ERROR, "keys file " + path + ": " + failure);
    }
  }

  private void failed(String before, Code code, String why) {
    boolean isClosed = end.getCount() == 0;
    fault = why;
    if (!fault.equals(before) && !isClosed) {
      log(System.Logger.Level.WARNING, code.toString(), fault + "; the present keys stay in use");
    }
  }

  private static void log(System.Logger.Level level, String code, String message) {
    try {
      LOGGER.log(level, "sealwax: " + code + " message=\"" + message + "\"");
    } catch (RuntimeException | Error failure) {
      // There is nobody else to tell.
    }
  }

  @Override
  public void close() {
    end.countDown();
  }
}
