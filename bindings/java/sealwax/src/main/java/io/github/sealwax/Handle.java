package io.github.sealwax;

import io.github.sealwax.internal.Crossing;

/** A handle that this service issued to the principal at hand. */
public final class Handle extends Identifier {
  Handle(String text, Crossing x, long identifier) {
    super(text, x, identifier);
  }
}
