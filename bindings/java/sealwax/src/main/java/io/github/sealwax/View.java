package io.github.sealwax;

import io.github.sealwax.internal.Call;
import io.github.sealwax.internal.CodecObject;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Output;
import io.github.sealwax.internal.Replicated;
import io.github.sealwax.internal.Ring;
import io.github.sealwax.internal.Text;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A {@link Codec} scoped to one principal: sealers, sessions, session ids and handles. It keeps the
 * keys that the codec had when it was made: make one for each request.
 *
 * <p>Closing it frees its memory at once. One that is not closed is freed when it is collected.
 */
public final class View implements AutoCloseable {
  private static final int STATE = 1;
  private static final int REQUEST_STATE = 2;
  private static final int SESSION = 3;
  private static final int CURSOR = 4;
  private static final int HANDLE_STATE = 5;
  private static final int CUSTOM = 127;
  private static final int SESSION_ID_LENGTH = 64;
  private static final int HANDLE_MAX = 75;

  final CodecObject codec;
  final Replicated replicated;
  final int tokenLimit;
  final int metadataLimit;
  private final String description;

  View(
      CodecObject codec,
      Principal principal,
      int tokenLimit,
      int metadataLimit,
      String description) {
    this.codec = codec;
    this.tokenLimit = tokenLimit;
    this.metadataLimit = metadataLimit;
    this.description = description;
    codec.expectOpen();
    Ring ring = codec.ring();
    replicated =
        new Replicated(
            codec.library(),
            x -> codec.with(x, ring, (within, address) -> make(within, address, principal)),
            Function.VIEW_FREE);
    // A mistake in the principal shows here.
    replicated.call((x, made) -> made);
  }

  private static long make(Call x, long codec, Principal principal) {
    long place = x.room(x.pointerSize());
    if (principal instanceof Principal.Caller caller) {
      byte[] issuer = Text.optional("issuer", caller.issuer());
      byte[] client = Text.optional("client", caller.client());
      byte[] subject = Text.optional("subject", caller.subject());
      x.with(codec).withBytes(issuer, client, subject).call(Function.VIEW_NEW, place);
    } else {
      x.call(Function.VIEW_NEW_ANONYMOUS, codec, place);
    }
    return x.readWord(place);
  }

  /** Returns the sealer of a data-layer session's {@code state}; {@link #sessions()} is simpler. */
  public Sealer state(String sessionId) {
    return sealer(STATE, null, sessionId, null);
  }

  /** Returns the sealer of {@code requestState} for one request, by its {@link RequestContext}. */
  public Sealer requestState(RequestContext context) {
    return sealer(REQUEST_STATE, null, null, context.bytes());
  }

  /** Returns the sealer of {@code Mcp-Session-Id} tokens, which hold the negotiated session. */
  public Sealer session() {
    return sealer(SESSION, null, null, null);
  }

  /** Returns the sealer of the cursors of a list method, such as {@code tools/list}. */
  public Sealer cursor(String method) {
    return sealer(CURSOR, method, null, null);
  }

  /** Returns the sealer of handles of one type that hold their state themselves. */
  public Sealer handleState(String handleType) {
    return sealer(HANDLE_STATE, handleType, null, null);
  }

  /** Returns the sealer of the application's own tokens. */
  public Sealer custom(String label) {
    return sealer(CUSTOM, label, null, null);
  }

  /**
   * Returns the sealer of the application's own tokens, bound to a session, to a request, or to
   * both.
   */
  public Sealer custom(String label, @Nullable String sessionId, @Nullable RequestContext context) {
    return sealer(CUSTOM, label, sessionId, context == null ? null : context.bytes());
  }

  /** For vectors too, which ask for kinds with any bindings. */
  Sealer sealer(
      int kind, @Nullable String label, @Nullable String sessionId, byte @Nullable [] context) {
    return new Sealer(this, kind, label, sessionId, context);
  }

  /** Returns the data-layer sessions of this principal: one ends after 24 hours without a write. */
  public Sessions sessions() {
    return new Sessions(this, null);
  }

  /**
   * Returns the data-layer sessions of this principal.
   *
   * @param lifetime a session ends after that time without a write; without expiry, at the codec's
   *     {@code sessionMaxAge} alone
   */
  public Sessions sessions(Lifetime lifetime) {
    return new Sessions(this, lifetime);
  }

  /** Mints a session id: 64 characters, safe in an HTTP header. */
  public String mintSessionId() {
    return replicated.call(
        (x, view) -> {
          Output out = x.output(SESSION_ID_LENGTH);
          x.with(view).withOutput(out).call(Function.MINT_SESSION_ID, 0);
          return out.ascii();
        });
  }

  /**
   * Verifies a session id that came back.
   *
   * @throws RefusedException for every one that is not valid here
   */
  public SessionId verifySessionId(String sessionId) {
    return verifySessionId(sessionId, null);
  }

  /**
   * Verifies a session id that came back.
   *
   * @param maxAge in whole seconds: an older one has expired
   * @throws RefusedException for every one that is not valid here
   */
  public SessionId verifySessionId(String sessionId, @Nullable Duration maxAge) {
    byte[] wire = Text.untrusted(sessionId);
    Long age = Times.optionalSeconds("maxAge", maxAge);
    return replicated.call(
        (x, view) -> {
          long identifier = x.room(Identifier.SIZE);
          x.with(view).withBytes(wire).call(Function.VERIFY_SESSION_ID, x.number(age), identifier);
          return new SessionId(sessionId, x, identifier);
        });
  }

  /**
   * Mints a handle: its type, an underscore and 42 characters.
   *
   * @param handleType a lowercase letter, then up to 31 lowercase letters or digits
   * @throws InvalidArgumentException for another type, and for {@code sess}, {@code sw1} and {@code
   *     swk1}
   */
  public String mintHandle(String handleType) {
    byte[] type = Text.bytes("handleType", handleType);
    return replicated.call(
        (x, view) -> {
          Output out = x.output(HANDLE_MAX);
          x.with(view).withBytes(type).withOutput(out).call(Function.MINT_HANDLE, 0);
          return out.ascii();
        });
  }

  /**
   * Verifies a handle that came back.
   *
   * @throws RefusedException for every one that is not valid here
   */
  public Handle verifyHandle(String handleType, String handle) {
    return verifyHandle(handleType, handle, null);
  }

  /**
   * Verifies a handle that came back.
   *
   * @param maxAge in whole seconds: an older one has expired
   * @throws RefusedException for every one that is not valid here
   */
  public Handle verifyHandle(String handleType, String handle, @Nullable Duration maxAge) {
    byte[] type = Text.bytes("handleType", handleType);
    byte[] wire = Text.untrusted(handle);
    Long age = Times.optionalSeconds("maxAge", maxAge);
    return replicated.call(
        (x, view) -> {
          long identifier = x.room(Identifier.SIZE);
          x.with(view)
              .withBytes(type, wire)
              .call(Function.VERIFY_HANDLE, x.number(age), identifier);
          return new Handle(handle, x, identifier);
        });
  }

  /** Frees its memory; its sealers and sessions fail from now on. */
  @Override
  public void close() {
    replicated.close();
  }

  /** Returns the audience and the ids of the keys. */
  @Override
  public String toString() {
    return "View of " + description;
  }
}
