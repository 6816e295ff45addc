package io.github.sealwax;

import io.github.sealwax.internal.CodecObject;
import io.github.sealwax.internal.Function;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Seals and opens the tokens of one service: keys, an audience and limits. Its keys may change
 * ({@link #setKeys}), and nothing else. Every replica needs the same settings.
 *
 * <pre>{@code
 * Codec codec = Codec.fromEnv("https://mcp.example.com");
 * try (View alice = codec.view(Principal.subject("alice"))) {
 *   String token = alice.cursor("tools/list").seal("page 2".getBytes(UTF_8));
 *   byte[] page = alice.cursor("tools/list").open(token).payload();
 * }
 * }</pre>
 *
 * <p>Closing it ends the watch of its file of keys, and frees its memory. Views stay valid.
 */
public final class Codec implements AutoCloseable {
  final CodecObject object;
  private final String audience;
  private final int tokenLimit;
  private final int metadataLimit;
  private @Nullable KeysFile watch;

  Codec(CodecObject object, String audience) {
    this.object = object;
    this.audience = audience;
    tokenLimit = limit(Function.TOKEN_LIMIT);
    metadataLimit = limit(Function.METADATA_LIMIT);
  }

  private int limit(Function function) {
    return object.library().call(x -> (int) x.plain(function, object.in(x)));
  }

  /** Follows a file of keys from now on. */
  void watch(Path path, Duration interval) {
    watch = KeysFile.watch(this, path, interval);
  }

  /**
   * Makes a codec.
   *
   * @param audience names the service, best by its public address: tokens of one service never open
   *     at another, even under the same keys
   */
  public static Codec of(Keys keys, String audience) {
    return builder(audience).keys(keys).build();
  }

  /**
   * Makes a codec with the keys of the environment: those of the file that {@code
   * SEALWAX_KEYS_FILE} names, which the codec follows, or else as {@link KeyRing#fromEnv} does.
   *
   * @throws InvalidKeyException if none is set, or more than one, or there is no valid ring
   */
  public static Codec fromEnv(String audience) {
    return builder(audience).keysFromEnv().build();
  }

  /** Begins a codec with settings of its own. */
  public static CodecBuilder builder(String audience) {
    return new CodecBuilder(audience);
  }

  /**
   * Replaces the keys, also of guards with this codec; returns whether they are others.
   *
   * <p>Views, and requests in progress, keep the keys that they began with: make new views.
   */
  public boolean setKeys(Keys... keys) {
    return object.setKeys(KeyRing.of(keys).ring);
  }

  /**
   * Returns this codec scoped to one principal.
   *
   * @throws InvalidArgumentException for a caller without a client or a subject, for an empty part,
   *     or for one over 1,024 bytes
   */
  public View view(Principal principal) {
    return new View(object, principal, tokenLimit, metadataLimit, description());
  }

  private String description() {
    return "Codec " + audience + ", keys " + String.join(" ", object.ring().ids());
  }

  /** Ends the watch of its file of keys, and frees its memory. Views stay valid. */
  @Override
  public void close() {
    if (watch != null) {
      watch.close();
    }
    object.close();
  }

  /** Returns the audience and the ids of the keys. */
  @Override
  public String toString() {
    return description();
  }
}
