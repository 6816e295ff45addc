package io.github.sealwax;

import io.github.sealwax.internal.Call;

/**
 * A session id that this service issued to the principal at hand. It does not authenticate its
 * sender: possession is not authentication.
 */
public final class SessionId extends Identifier {
  SessionId(String text, Call x, long identifier) {
    super(text, x, identifier);
  }
}
