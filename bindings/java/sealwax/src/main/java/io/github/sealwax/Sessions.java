package io.github.sealwax;

import io.github.sealwax.internal.Documents;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Output;
import io.github.sealwax.internal.Pinned;
import io.github.sealwax.internal.Text;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Data-layer sessions of one principal, with no store: the client keeps their state.
 *
 * <p>A session ends after its lifetime without a renewal, or at the codec's {@code sessionMaxAge},
 * whichever comes first.
 */
public final class Sessions {
  private static final int ID_LENGTH = 64;

  private final View view;
  private final @Nullable Lifetime lifetime;

  Sessions(View view, @Nullable Lifetime lifetime) {
    this.view = view;
    this.lifetime = lifetime;
  }

  /**
   * Creates a session with a first state.
   *
   * @throws RefusedException {@code too_large} for a payload over the limit
   */
  public SessionMetadata create(byte[] payload) {
    return view.replicated.call(
        (x, address) -> {
          long life = Lifetime.in(x, lifetime);
          Output out = x.output(view.metadataLimit);
          x.with(address, life).withOpaque(payload).withOutput(out).call(Function.SESSION_CREATE);
          return SessionMetadata.read(out.bytes());
        });
  }

  /**
   * Opens a client's metadata, the value of {@code _meta["io.modelcontextprotocol/session"]}:
   * verifies the id, then opens the state that is bound to it.
   *
   * @throws RefusedException for every session that is not valid here: {@code malformed} if the
   *     state is missing, so that leaving it out does not reset a session
   */
  public Session open(Map<String, ?> metadata) {
    return open(Documents.write("metadata", metadata));
  }

  /**
   * Opens a client's metadata, as JSON.
   *
   * @throws RefusedException as {@link #open(Map)} does
   */
  public Session openJson(String metadata) {
    return open(Text.untrusted(metadata));
  }

  private Session open(byte[] metadata) {
    return view.replicated.call(
        (x, address) -> {
          long place = x.room(x.pointerSize());
          x.with(address).withBytes(metadata).call(Function.SESSION_OPEN, place);
          Pinned session =
              new Pinned(view.codec.library(), x, x.readWord(place), Function.SESSION_FREE);
          long opened = x.room(Opened.SIZE);
          Output payload = x.output(metadata.length);
          x.with(x.readWord(place)).withOutput(payload).call(Function.SESSION_PAYLOAD, opened);
          Output id = x.output(ID_LENGTH);
          x.with(x.readWord(place)).withOutput(id).call(Function.SESSION_ID, 0);
          return new Session(payload.bytes(), x, opened, id.ascii(), session);
        });
  }

  /**
   * Returns the metadata of the session with a new state; its id and start are kept.
   *
   * @throws RefusedException {@code too_large} for a payload over the limit
   */
  public SessionMetadata renew(Session session, byte[] payload) {
    return session.pinned.call(
        (x, opened) -> {
          long address = view.replicated.in(x);
          long life = Lifetime.in(x, lifetime);
          Output out = x.output(view.metadataLimit);
          x.with(address, life, opened)
              .withOpaque(payload)
              .withOutput(out)
              .call(Function.SESSION_RENEW);
          return SessionMetadata.read(out.bytes());
        });
  }

  /** Creates a session that begins with the state of another; both continue. */
  public SessionMetadata fork(Session session) {
    return session.pinned.call(
        (x, opened) -> {
          long address = view.replicated.in(x);
          long life = Lifetime.in(x, lifetime);
          Output out = x.output(view.metadataLimit);
          x.with(address, life, opened).withOutput(out).call(Function.SESSION_FORK);
          return SessionMetadata.read(out.bytes());
        });
  }

  /**
   * Verifies an id alone, as {@code sessions/delete} sends it.
   *
   * @throws RefusedException for every one that is not valid here
   */
  public SessionId verify(String sessionId) {
    byte[] wire = Text.untrusted(sessionId);
    return view.replicated.call(
        (x, address) -> {
          long identifier = x.room(Identifier.SIZE);
          x.with(address).withBytes(wire).call(Function.SESSION_VERIFY, identifier);
          return new SessionId(sessionId, x, identifier);
        });
  }
}
