package io.github.sealwax;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One language of the interop run: a request a line on stdin, its answer a line on stdout. */
final class InteropPeer {
  private InteropPeer() {}

  public static void main(String[] arguments) throws IOException {
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    PrintStream answers = new PrintStream(System.out, true, UTF_8);
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      String answer;
      try {
        answer =
            answer(Request.parse(line)).stream()
                .map(Object::toString)
                .collect(Collectors.joining("\t", "ok\t", ""));
      } catch (SealwaxException error) {
        answer = "error\t" + error.code();
      }
      answers.println(answer);
    }
  }

  private record Request(
      String op,
      String ring,
      String audience,
      String principal,
      String kind,
      String label,
      String sessionId,
      byte[] context,
      String ttl,
      byte[] payload,
      String token,
      String maxAge) {
    static Request parse(String line) {
      String[] fields = line.split("\t", -1);
      return new Request(
          fields[0],
          text(fields[1]),
          text(fields[2]),
          fields[3].equals("anonymous") ? fields[3] : text(fields[3]),
          fields[4],
          text(fields[5]),
          text(fields[6]),
          bytes(fields[7]),
          fields[8],
          bytes(fields[9]),
          text(fields[10]),
          fields[11]);
    }

    private static byte[] bytes(String hex) {
      return HexFormat.of().parseHex(hex);
    }

    private static String text(String hex) {
      return new String(bytes(hex), UTF_8);
    }

    View view() {
      Codec codec = Codec.of(KeyRing.parse(ring), audience);
      if (principal.equals("anonymous")) {
        return codec.view(Principal.anonymous());
      }
      String[] parts = principal.split("\0", -1);
      return codec.view(Principal.of(part(parts[0]), part(parts[1]), part(parts[2])));
    }

    private static @Nullable String part(String text) {
      return text.isEmpty() ? null : text;
    }

    Sealer sealer() {
      View view = view();
      return switch (kind) {
        case "state" -> view.state(sessionId);
        case "session" -> view.session();
        case "cursor" -> view.cursor(label);
        case "handle-state" -> view.handleState(label);
        // A context as bytes: no request makes a random one.
        case "request-state" -> view.sealer(2, null, null, context);
        default -> view.sealer(127, label, part(sessionId), context.length == 0 ? null : context);
      };
    }

    @Nullable Lifetime lifetime() {
      if (ttl.isEmpty()) {
        return null;
      }
      return ttl.equals("none")
          ? Lifetime.noExpiry()
          : Lifetime.of(Duration.ofSeconds(Long.parseLong(ttl)));
    }

    @Nullable Duration age() {
      return maxAge.isEmpty() ? null : Duration.ofSeconds(Long.parseLong(maxAge));
    }

    Sessions sessions() {
      Lifetime lifetime = lifetime();
      return lifetime == null ? view().sessions() : view().sessions(lifetime);
    }
  }

  private static List<Object> answer(Request asked) {
    Lifetime lifetime = asked.lifetime();
    switch (asked.op) {
      case "seal":
        Sealer sealer = asked.sealer();
        return List.of(
            lifetime == null ? sealer.seal(asked.payload) : sealer.seal(asked.payload, lifetime));
      case "open":
        Opened opened = asked.sealer().open(asked.token, asked.age());
        return List.of(
            hex(opened.payload()),
            opened.generation(),
            opened.needsReseal() ? 1 : 0,
            opened.tokenId());
      case "renew":
        Opened before = asked.sealer().open(asked.token, asked.age());
        return List.of(
            lifetime == null
                ? asked.sealer().renew(before, asked.payload)
                : asked.sealer().renew(before, asked.payload, lifetime));
      case "mint-session-id":
        return List.of(asked.view().mintSessionId());
      case "mint-handle":
        return List.of(asked.view().mintHandle(asked.label));
      case "verify-session-id":
        return facts(asked.view().verifySessionId(asked.token, asked.age()));
      case "verify-handle":
        return facts(asked.view().verifyHandle(asked.label, asked.token, asked.age()));
      case "session-create":
        return List.of(asked.sessions().create(asked.payload).toJson());
      default:
        Session session = asked.sessions().openJson(asked.token);
        return switch (asked.op) {
          case "session-renew" -> List.of(asked.sessions().renew(session, asked.payload).toJson());
          case "session-fork" -> List.of(asked.sessions().fork(session).toJson());
          default -> List.of(hex(session.payload()), session.generation());
        };
    }
  }

  private static List<Object> facts(Identifier found) {
    return List.of(found.createdAt().toEpochMilli(), found.needsReseal() ? 1 : 0);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
