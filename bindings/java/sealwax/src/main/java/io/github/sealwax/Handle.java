package io.github.sealwax;

import io.github.sealwax.internal.Call;

/** A handle that this service issued to the principal at hand. */
public final class Handle extends Identifier {
  Handle(String text, Call x, long identifier) {
    super(text, x, identifier);
  }
}
