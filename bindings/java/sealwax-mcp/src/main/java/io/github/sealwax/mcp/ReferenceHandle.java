package io.github.sealwax.mcp;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A handle whose state the server keeps, by the handle's ulid.
 *
 * @param handle the text for the model
 * @param ulid 32 hex digits, the same for as long as the handle lives
 * @param expiresAt its end, to show the model; null for never
 */
public record ReferenceHandle(String handle, String ulid, @Nullable Instant expiresAt) {
  /** Leaves out the handle, which gives access. */
  @Override
  public String toString() {
    return "ReferenceHandle[ulid=%s, expiresAt=%s]".formatted(ulid, expiresAt);
  }
}
