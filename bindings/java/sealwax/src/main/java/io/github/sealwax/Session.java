package io.github.sealwax;

import io.github.sealwax.internal.Call;
import io.github.sealwax.internal.Pinned;
import org.jspecify.annotations.Nullable;

/**
 * An opened data-layer session: its id and its state, every check passed. Only opening makes one.
 */
public final class Session extends Opened {
  final Pinned pinned;
  private final String id;

  Session(byte[] payload, Call x, long opened, String id, Pinned pinned) {
    super(payload, x, opened);
    this.id = id;
    this.pinned = pinned;
  }

  /** Returns the session id. */
  public String id() {
    return id;
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return super.equals(other) && other instanceof Session that && id.equals(that.id);
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }
}
