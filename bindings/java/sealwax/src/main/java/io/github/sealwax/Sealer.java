package io.github.sealwax;

import io.github.sealwax.internal.Call;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Output;
import io.github.sealwax.internal.Replicated;
import io.github.sealwax.internal.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Seals and opens tokens of one kind, for one principal, with the kind's bindings. Opening takes
 * the same bindings as sealing; a difference in any of them is refused.
 */
public final class Sealer {
  private static final int PURPOSE_WORDS = 7;

  private final Replicated view;
  private final int tokenLimit;
  private final int kind;
  private final byte @Nullable [] label;
  private final byte @Nullable [] sessionId;
  private final byte @Nullable [] context;

  Sealer(
      View view,
      int kind,
      @Nullable String label,
      @Nullable String sessionId,
      byte @Nullable [] context) {
    this.view = view.replicated;
    this.tokenLimit = view.tokenLimit;
    this.kind = kind;
    this.label = Text.optional("label", label);
    this.sessionId = Text.optional("sessionId", sessionId);
    this.context = context == null ? null : context.clone();
  }

  /**
   * Seals a payload as a new token, of generation 0, for the kind's default lifetime.
   *
   * @throws RefusedException {@code too_large} for a payload over the limit
   */
  public String seal(byte[] payload) {
    return seal(null, null, payload);
  }

  /**
   * Seals a payload as a new token, of generation 0.
   *
   * @throws RefusedException {@code too_large} for a payload over the limit
   */
  public String seal(byte[] payload, Lifetime lifetime) {
    return seal(null, lifetime, payload);
  }

  /**
   * Seals a payload in place of an opened token's, for the kind's default lifetime. The start is
   * kept, so that a maximum age holds. The generation is one more, so that a stale token can be
   * recognized.
   *
   * @throws RefusedException {@code too_large} for a payload over the limit
   */
  public String renew(Opened opened, byte[] payload) {
    return seal(opened, null, payload);
  }

  /**
   * Seals a payload in place of an opened token's, as {@link #renew(Opened, byte[])} does.
   *
   * @throws RefusedException {@code too_large} for a payload over the limit
   */
  public String renew(Opened opened, byte[] payload, Lifetime lifetime) {
    return seal(opened, lifetime, payload);
  }

  private String seal(@Nullable Opened before, @Nullable Lifetime lifetime, byte[] payload) {
    return view.call(
        (x, address) -> {
          long purpose = purpose(x);
          long life = Lifetime.in(x, lifetime);
          long content = x.opaque(payload);
          Output out = x.output(tokenLimit);
          if (before == null) {
            x.with(address, purpose, life, content, payload.length)
                .withOutput(out)
                .call(Function.SEAL);
          } else {
            x.with(address, purpose, life, before.in(x), content, payload.length)
                .withOutput(out)
                .call(Function.RENEW);
          }
          return out.ascii();
        });
  }

  /**
   * Opens a token, as it came from the client.
   *
   * @throws RefusedException for every token that is not valid here
   */
  public Opened open(String token) {
    return open(token, null);
  }

  /**
   * Opens a token, as it came from the client.
   *
   * @param maxAge in whole seconds: a token whose session began longer ago has expired, however
   *     often it was renewed
   * @throws RefusedException for every token that is not valid here
   */
  public Opened open(String token, @Nullable Duration maxAge) {
    byte[] wire = Text.untrusted(token);
    Long age = Times.optionalSeconds("maxAge", maxAge);
    return view.call(
        (x, address) -> {
          long purpose = purpose(x);
          long limit = x.number(age);
          long sent = x.opaque(wire);
          long opened = x.room(Opened.SIZE);
          // A payload is always shorter than its token.
          Output out = x.output(wire.length);
          x.with(address, purpose, limit, sent, wire.length)
              .withOutput(out)
              .call(Function.OPEN, opened);
          return new Opened(out.bytes(), x, opened);
        });
  }

  private long purpose(Call x) {
    return x.struct(PURPOSE_WORDS * x.pointerSize())
        .integer(kind)
        .bytes(label)
        .bytes(sessionId)
        .bytes(context)
        .address();
  }
}
