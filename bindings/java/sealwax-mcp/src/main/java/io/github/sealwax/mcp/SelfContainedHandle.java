package io.github.sealwax.mcp;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A handle that holds its state.
 *
 * @param handle the text for the model
 * @param expiresAt its end, to show the model; null for never
 */
public record SelfContainedHandle(String handle, @Nullable Instant expiresAt) {
  /** Leaves out the handle, which gives access. */
  @Override
  public String toString() {
    return "SelfContainedHandle[expiresAt=%s]".formatted(expiresAt);
  }
}
