package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import io.github.sealwax.internal.Text;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The 32 bytes that identify a request: its method, its target and its arguments.
 *
 * <p>Arguments that languages read differently are refused: a number of magnitude 2^53 or more, a
 * key twice in an object, a lone surrogate, more than 100 levels.
 */
public final class RequestContext {
  private final byte[] bytes;

  private RequestContext(byte[] bytes) {
    this.bytes = bytes;
  }

  /**
   * Returns the context of a request.
   *
   * @param target the {@code name} of {@code tools/call} and {@code prompts/get}, the {@code uri}
   *     of {@code resources/read}
   * @param argumentsJson the arguments as JSON, best as they came; {@code null} differs from {@code
   *     {}}
   * @throws InvalidArgumentException for arguments that languages read differently
   */
  public static RequestContext ofJson(
      String method, String target, @Nullable String argumentsJson) {
    return of(
        method,
        target,
        argumentsJson == null ? null : Text.bytes("argumentsJson", argumentsJson),
        null);
  }

  /**
   * Returns the context of a request by some of its arguments: those that decide what it does. The
   * others may change from one round to the next.
   *
   * @throws InvalidArgumentException as {@link #ofJson(String, String, String)} does, and for
   *     arguments with none of the names
   */
  public static RequestContext ofJson(
      String method, String target, @Nullable String argumentsJson, List<String> only) {
    return of(
        method,
        target,
        argumentsJson == null ? null : Text.bytes("argumentsJson", argumentsJson),
        only);
  }

  /**
   * Returns the context of a request with arguments that were read already.
   *
   * @param arguments texts, numbers, truth values, lists and maps; {@code null} differs from an
   *     empty map
   * @throws InvalidArgumentException as {@link #ofJson(String, String, String)} does
   */
  public static RequestContext of(String method, String target, @Nullable Object arguments) {
    return of(method, target, Documents.write("arguments", arguments), null);
  }

  /**
   * Returns the context of a request by some of its arguments, which were read already.
   *
   * @throws InvalidArgumentException as {@link #ofJson(String, String, String, List)} does
   */
  public static RequestContext of(
      String method, String target, @Nullable Object arguments, List<String> only) {
    return of(method, target, Documents.write("arguments", arguments), only);
  }

  private static RequestContext of(
      String method, String target, byte @Nullable [] arguments, @Nullable List<String> only) {
    return new RequestContext(
        Documents.requestContext(
            Text.bytes("method", method), Text.bytes("target", target), arguments, only));
  }

  /** Returns a copy of the 32 bytes. */
  public byte[] bytes() {
    return bytes.clone();
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof RequestContext that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  /** Returns the bytes in hex digits. */
  @Override
  public String toString() {
    return HexFormat.of().formatHex(bytes);
  }
}
