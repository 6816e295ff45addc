package io.github.sealwax;

import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.CodecObject;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Replicated;
import io.github.sealwax.internal.Text;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The settings of a {@link Codec}: every replica needs the same ones. */
public final class CodecBuilder {
  static {
    Access.grant(
        new Access() {
          @Override
          protected CodecObject unwrap(Codec codec) {
            return codec.object;
          }

          @Override
          protected Codec buildOn(CodecBuilder settings, Replicated clock) {
            return settings.build(Library.shared(), clock);
          }

          @Override
          protected Codec buildIn(CodecBuilder settings, Library library) {
            return settings.build(library, null);
          }
        });
  }

  private static final Duration LONGEST_INTERVAL = Duration.ofDays(1);

  private final String audience;

  /** By the names of the methods. */
  private final Map<String, KeySource> keys = new LinkedHashMap<>();

  private Duration keysInterval = Duration.ofSeconds(5);
  private @Nullable Integer payloadLimit;
  private @Nullable Duration clockTolerance;
  private @Nullable Duration sessionMaxAge;

  CodecBuilder(String audience) {
    this.audience = audience;
  }

  /**
   * Sets the keys, and the keys of rings, the sealing one first.
   *
   * @throws InvalidKeyException unless there are 1 to 16, each once
   */
  public CodecBuilder keys(Keys... keys) {
    return given("keys", new KeySource(null, KeyRing.of(keys)));
  }

  private CodecBuilder given(String name, KeySource source) {
    keys.put(name, source);
    return this;
  }

  /**
   * Sets the path of a file with the text of a ring, such as a mounted secret, in place of the
   * keys. The codec follows it until it is closed or collected. Replace the file in one step, as
   * {@code sealwax keys} does. While it is missing or bad, the codec keeps the keys that it has,
   * and the logger {@code sealwax} says so.
   */
  public CodecBuilder keysFile(Path keysFile) {
    return given("keysFile", new KeySource(Objects.requireNonNull(keysFile), null));
  }

  /** Sets how often the file of keys is read: 5 seconds by default, at most a day. */
  public CodecBuilder keysInterval(Duration keysInterval) {
    this.keysInterval = keysInterval;
    return this;
  }

  /**
   * Takes the keys of the environment: of the file that {@code SEALWAX_KEYS_FILE} names, which the
   * codec follows, or else as {@link KeyRing#fromEnv} does.
   *
   * @throws InvalidKeyException if none is set, or more than one, or there is no valid ring
   */
  public CodecBuilder keysFromEnv() {
    return keysFrom(System.getenv());
  }

  CodecBuilder keysFrom(Map<String, String> environment) {
    return given("keysFromEnv", KeySource.ofEnvironment(environment));
  }

  /** Sets the largest payload in bytes: 4,096 by default, 1 MiB at most. */
  public CodecBuilder payloadLimit(int payloadLimit) {
    this.payloadLimit = payloadLimit;
    return this;
  }

  /**
   * Sets by how much another replica's clock may be ahead, in whole seconds: 60 by default, 300 at
   * most.
   */
  public CodecBuilder clockTolerance(Duration clockTolerance) {
    this.clockTolerance = clockTolerance;
    return this;
  }

  /**
   * Sets the maximum age of a data-layer session, in whole seconds, however often it is renewed: 30
   * days by default.
   */
  public CodecBuilder sessionMaxAge(Duration sessionMaxAge) {
    this.sessionMaxAge = sessionMaxAge;
    return this;
  }

  /**
   * Makes the codec.
   *
   * @throws InvalidArgumentException for an audience that is empty or over 1,024 bytes, a limit out
   *     of its range, and unless one of keys, keysFile and keysFromEnv was called
   * @throws InvalidKeyException if the file of keys holds no valid ring
   */
  public Codec build() {
    return build(Library.shared(), null);
  }

  private Codec build(Library library, @Nullable Replicated clock) {
    if (keys.size() != 1) {
      throw new InvalidArgumentException(
          "keys: expected one of keys, keysFile and keysFromEnv, found "
              + (keys.isEmpty() ? "none" : String.join(" and ", keys.keySet())));
    }
    if (keysInterval.isNegative()
        || keysInterval.isZero()
        || keysInterval.compareTo(LONGEST_INTERVAL) > 0) {
      throw new InvalidArgumentException(
          "keysInterval: expected over 0 and at most 86,400 seconds, found " + keysInterval);
    }
    KeySource source = keys.values().iterator().next();
    CodecObject.Limits limits =
        new CodecObject.Limits(
            payloadLimit == null ? null : number("payloadLimit", payloadLimit),
            Times.optionalSeconds("clockTolerance", clockTolerance),
            Times.optionalSeconds("sessionMaxAge", sessionMaxAge));
    Codec codec =
        new Codec(
            new CodecObject(
                library, source.read().ring, Text.bytes("audience", audience), limits, clock),
            audience);
    if (source.file() != null) {
      codec.watch(source.file(), keysInterval);
    }
    return codec;
  }

  private static long number(String name, int number) {
    if (number < 0) {
      throw new InvalidArgumentException(name + ": expected 0 or more, found " + number);
    }
    return number;
  }
}
