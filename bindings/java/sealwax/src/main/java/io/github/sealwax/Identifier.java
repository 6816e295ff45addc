package io.github.sealwax;

import io.github.sealwax.internal.Call;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A session id or a handle that this service issued to the principal at hand. Only a view makes
 * one.
 */
public abstract sealed class Identifier permits SessionId, Handle {
  static final int SIZE = 40;
  private static final int ENDS_AT = 8;
  private static final int ULID = 16;
  private static final int ULID_SIZE = 16;
  private static final int NEEDS_RESEAL = 32;

  private final String text;
  private final long createdAt;
  private final long endsAt;
  private final String ulid;
  private final boolean needsReseal;

  /** Reads {@code sealwax_identifier}. */
  Identifier(String text, Call x, long identifier) {
    this.text = text;
    createdAt = x.readLong(identifier);
    endsAt = x.readLong(identifier + ENDS_AT);
    ulid = HexFormat.of().formatHex(x.read(identifier + ULID, ULID_SIZE));
    needsReseal = x.readBoolean(identifier + NEEDS_RESEAL);
  }

  /** Returns the text: with it a client continues. */
  public final String text() {
    return text;
  }

  /** Returns the time at which it was made. */
  public final Instant createdAt() {
    return Times.ofMilliseconds(createdAt);
  }

  /** Returns its end under the given maximum age; {@code null} if none was given. */
  public final @Nullable Instant endsAt() {
    return Times.millisecondsUnlessNever(endsAt);
  }

  /**
   * Returns its unique part, 32 hex digits: for logs, and as a key in the server's store. Unlike
   * the text, it does not let anyone continue a session.
   */
  public final String ulid() {
    return ulid;
  }

  /** Returns whether an older key made it: it ends when that key is removed. */
  public final boolean needsReseal() {
    return needsReseal;
  }

  @Override
  public final boolean equals(@Nullable Object other) {
    return other instanceof Identifier that
        && text.equals(that.text)
        && createdAt == that.createdAt
        && endsAt == that.endsAt
        && needsReseal == that.needsReseal;
  }

  @Override
  public final int hashCode() {
    return Objects.hash(text, createdAt, endsAt);
  }

  /** Returns the facts, without the text. */
  @Override
  public final String toString() {
    return getClass().getSimpleName()
        + "[createdAt="
        + createdAt()
        + ", endsAt="
        + endsAt()
        + ", ulid="
        + ulid
        + ", needsReseal="
        + needsReseal
        + "]";
  }
}
