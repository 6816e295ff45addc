package io.github.sealwax;

import io.github.sealwax.internal.Call;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The payload and the facts of a token that passed every check. Only opening makes one. */
public sealed class Opened permits Session {
  static final int SIZE = 48;
  private static final int EXPIRES_AT = 8;
  private static final int STARTED_AT = 16;
  private static final int GENERATION = 24;
  private static final int NEEDS_RESEAL = 28;
  private static final int NEEDS_RENEWAL = 29;
  private static final int TOKEN_ID = 30;
  private static final int TOKEN_ID_SIZE = 16;

  private final byte[] payload;
  private final long issuedAt;
  private final long expiresAt;
  final long startedAt;
  final int generation;
  private final boolean needsReseal;
  private final boolean needsRenewal;
  private final byte[] tokenId;

  /** Reads {@code sealwax_opened}. */
  Opened(byte[] payload, Call x, long opened) {
    this.payload = payload;
    issuedAt = x.readLong(opened);
    expiresAt = x.readLong(opened + EXPIRES_AT);
    startedAt = x.readLong(opened + STARTED_AT);
    generation = x.readInt(opened + GENERATION);
    needsReseal = x.readBoolean(opened + NEEDS_RESEAL);
    needsRenewal = x.readBoolean(opened + NEEDS_RENEWAL);
    tokenId = x.read(opened + TOKEN_ID, TOKEN_ID_SIZE);
  }

  /** For vectors: the predecessor of a renewed token, of which renewing reads no more. */
  Opened(long startedAt, int generation) {
    payload = new byte[0];
    tokenId = new byte[TOKEN_ID_SIZE];
    issuedAt = 0;
    expiresAt = 0;
    needsReseal = false;
    needsRenewal = false;
    this.startedAt = startedAt;
    this.generation = generation;
  }

  /** Writes what renewing asks of it. */
  long in(Call x) {
    return x.struct(SIZE)
        .number(0)
        .number(0)
        .number(startedAt)
        .integer(generation)
        .integer(0)
        .number(0)
        .number(0)
        .address();
  }

  /** Returns a copy of the payload. */
  public final byte[] payload() {
    return payload.clone();
  }

  /** Returns the time at which it was sealed. */
  public final Instant issuedAt() {
    return Times.ofSeconds(issuedAt);
  }

  /** Returns the end of its lifetime; {@code null} for no expiry. */
  public final @Nullable Instant expiresAt() {
    return Times.secondsUnlessNever(expiresAt);
  }

  /** Returns the start of its session: kept across renewals. */
  public final Instant startedAt() {
    return Times.ofSeconds(startedAt);
  }

  /** Returns the number of renewals; it stops at its maximum. */
  public final long generation() {
    return Integer.toUnsignedLong(generation);
  }

  /** Returns the token's id, by which a ledger records its use: 32 hex digits. */
  public final String tokenId() {
    return HexFormat.of().formatHex(tokenId);
  }

  /** Returns whether an older key sealed it: seal it anew before that key is removed. */
  public final boolean needsReseal() {
    return needsReseal;
  }

  /**
   * Returns whether to seal it anew even though nothing was written: half of its lifetime has
   * passed, or an older key sealed it.
   */
  public final boolean needsRenewal() {
    return needsRenewal;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Opened that
        && this instanceof Session == that instanceof Session
        && Arrays.equals(payload, that.payload)
        && issuedAt == that.issuedAt
        && expiresAt == that.expiresAt
        && startedAt == that.startedAt
        && generation == that.generation
        && needsReseal == that.needsReseal
        && needsRenewal == that.needsRenewal
        && Arrays.equals(tokenId, that.tokenId);
  }

  @Override
  public int hashCode() {
    return Objects.hash(Arrays.hashCode(payload), issuedAt, Arrays.hashCode(tokenId));
  }

  /** Returns the facts, without the payload. */
  @Override
  public String toString() {
    return getClass().getSimpleName()
        + "[issuedAt="
        + issuedAt()
        + ", expiresAt="
        + expiresAt()
        + ", startedAt="
        + startedAt()
        + ", generation="
        + generation()
        + ", tokenId="
        + tokenId()
        + ", needsReseal="
        + needsReseal
        + "]";
  }
}
