package bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.sealwax.Codec;
import io.github.sealwax.Key;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Principal;
import io.github.sealwax.RequestContext;
import io.github.sealwax.Sealer;
import io.github.sealwax.View;
import java.time.Duration;
import java.util.stream.Stream;

/** As a server does: the principal's view and the request's context serve a whole request. */
final class Ours implements Peer {
  static final Duration TTL = Duration.ofMinutes(10);
  static final String AUDIENCE = "https://mcp.example.com";
  static final String ISSUER = "https://idp.example.com";
  static final String CLIENT = "cli-7";
  static final String SUBJECT = "alice";

  /** As a model writes them, in the order of the tool's schema. */
  static final String ARGUMENTS =
      "{\"path\":\"projects/sealwax/meeting-notes.md\",\"title\":\"Meeting of Tuesday\",\"content\":\"Decide on the"
          + " release; ask Alice for the figures.\",\"tags\":[\"work\",\"release\"],\"pinned\":true,\"revision\":41,"
          + "\"reason\":\"the user asked for it\"}";

  /** As they are to be hashed, in the order of their names. */
  static final String SORTED =
      "{\"content\":\"Decide on the release; ask Alice for the figures.\",\"path\":\"projects/sealwax/meeting-notes.md\","
          + "\"pinned\":true,\"reason\":\"the user asked for it\",\"revision\":41,\"tags\":[\"work\",\"release\"],"
          + "\"title\":\"Meeting of Tuesday\"}";

  static final String CONTEXT = context(ARGUMENTS).toString();
  private static final Principal USER = Principal.of(ISSUER, CLIENT, SUBJECT);

  private final Codec codec;
  private final Sealer sealer;

  Ours(int keys) {
    codec = Codec.of(KeyRing.of(Stream.generate(Key::generate).limit(keys).toList()), AUDIENCE);
    sealer = view().requestState(context(ARGUMENTS));
  }

  static RequestContext context(String arguments) {
    return RequestContext.ofJson("tools/call", "save_note", arguments);
  }

  View view() {
    return codec.view(USER);
  }

  /** Our token with all that it is bound to computed beforehand. */
  @Override
  public String name() {
    return "token-alone";
  }

  @Override
  public String seal(String payload) {
    return sealer.seal(payload.getBytes(UTF_8));
  }

  @Override
  public String open(String token) {
    return new String(sealer.open(token).payload(), UTF_8);
  }

  /** Seals with nothing computed beforehand. */
  String sealRequest(String payload) {
    try (View view = view()) {
      return view.requestState(context(ARGUMENTS)).seal(payload.getBytes(UTF_8));
    }
  }

  /** Opens with nothing computed beforehand. */
  String openRequest(String token) {
    try (View view = view()) {
      return new String(view.requestState(context(ARGUMENTS)).open(token).payload(), UTF_8);
    }
  }
}
