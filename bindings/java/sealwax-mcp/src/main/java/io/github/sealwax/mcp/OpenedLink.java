package io.github.sealwax.mcp;

import io.github.sealwax.Principal;

/**
 * What a link opened to.
 *
 * @param value the value, as it was sealed
 * @param principal whose it is: the caller for whom it was sealed, whoever opened it
 * @param id the id of its token, the same at every opening: 32 hex digits
 * @param <T> the type of the value
 */
public record OpenedLink<T>(T value, Principal principal, String id) {
  /** Leaves out the value, and whose it is. */
  @Override
  public String toString() {
    return "OpenedLink[id=%s]".formatted(id);
  }
}
