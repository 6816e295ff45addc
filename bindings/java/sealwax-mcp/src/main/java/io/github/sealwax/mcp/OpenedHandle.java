package io.github.sealwax.mcp;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An opened handle that holds its state.
 *
 * @param <T> the type of the state
 */
public final class OpenedHandle<T> {
  private final T value;
  private final @Nullable Instant expiresAt;
  private final Map<String, Object> predecessor;

  OpenedHandle(T value, @Nullable Instant expiresAt, Map<String, Object> predecessor) {
    this.value = value;
    this.expiresAt = expiresAt;
    this.predecessor = predecessor;
  }

  /**
   * Returns the state, as it was sealed.
   *
   * @return the state
   */
  public T value() {
    return value;
  }

  /**
   * Returns its end.
   *
   * @return the end; null for never
   */
  public @Nullable Instant expiresAt() {
    return expiresAt;
  }

  /**
   * Returns the token id, 32 hex digits.
   *
   * @return the id
   */
  public String tokenId() {
    return (String) predecessor.get("id");
  }

  /**
   * Returns the number of handles before it in its chain.
   *
   * @return the generation
   */
  public long generation() {
    return ((Number) predecessor.get("generation")).longValue();
  }

  /**
   * Returns when the first handle of its chain was made.
   *
   * @return the start
   */
  public Instant startedAt() {
    return Instant.ofEpochSecond(((Number) predecessor.get("startedAt")).longValue());
  }

  Map<String, Object> predecessor() {
    return predecessor;
  }

  /** Leaves out the value. */
  @Override
  public String toString() {
    return "OpenedHandle[tokenId=%s, generation=%d]".formatted(tokenId(), generation());
  }
}
