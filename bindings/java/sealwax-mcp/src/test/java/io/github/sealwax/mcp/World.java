package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.CodecBuilder;
import io.github.sealwax.KeyRing;
import io.github.sealwax.Lifetime;
import io.github.sealwax.Principal;
import io.github.sealwax.RequestContext;
import io.github.sealwax.Sealer;
import io.github.sealwax.View;
import io.github.sealwax.testing.TestClock;
import io.github.sealwax.testing.TestCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The people, keys, tokens, sessions and handles that the transcripts name. */
final class World {
  static final Map<String, Object> FILE = read("guard.json");

  /** The time when a transcript begins, in Unix seconds. */
  static final long NOW = 1_800_000_000L;

  final Map<String, String> tokens = new HashMap<>();

  /** Every metadata that was seen of a session. */
  final Map<String, List<Map<String, Object>>> sessions = new HashMap<>();

  final Map<String, String> handles = new HashMap<>();
  final TestClock clock = new TestClock(Instant.ofEpochSecond(NOW));
  long now = NOW;

  static Map<String, Object> read(String name) {
    try {
      return Json.object(
          Files.readString(Path.of(System.getProperty("repository"), "tests/vectors", name)));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  @SuppressWarnings("unchecked")
  static List<Object> list(Object value) {
    return value == null ? List.of() : (List<Object>) value;
  }

  /** Returns an answer; null if there is none. */
  static Map<String, Object> answer(Object value) {
    return value == null ? null : object(value);
  }

  static long number(Object value, long otherwise) {
    return value == null ? otherwise : ((Number) value).longValue();
  }

  void pass(long seconds) {
    now += seconds;
    clock.set(Instant.ofEpochSecond(now));
  }

  /** {@code key} is new unless it says old or unknown; both is the guard's own ring. */
  Codec codec(Map<String, Object> made) {
    Map<String, Object> keys = object(FILE.get("keys"));
    String name = (String) made.getOrDefault("key", "new");
    String ring =
        name.equals("both") ? keys.get("new") + " " + keys.get("old") : (String) keys.get(name);
    String audience = (String) made.getOrDefault("audience", FILE.get("audience"));
    CodecBuilder settings = Codec.builder(audience).keys(KeyRing.parse(ring));
    return TestCodec.of(clock, name.equals("both") ? settings : settings.payloadLimit(1 << 16));
  }

  static Principal principal(String who) {
    Map<String, Object> parts = object(object(FILE.get("people")).get(who));
    if (parts.isEmpty()) {
      return null;
    }
    return Boolean.TRUE.equals(parts.get("anonymous"))
        ? Principal.anonymous()
        : Principal.of(
            (String) parts.get("issuer"),
            (String) parts.get("client"),
            (String) parts.get("subject"));
  }

  View view(Map<String, Object> made) {
    return codec(made).view(principal((String) made.getOrDefault("as", "alice")));
  }

  static Sealer sealer(View view, Map<String, Object> token) {
    return switch ((String) token.get("kind")) {
      case "request-state" -> {
        List<Object> told = list(token.get("context"));
        String arguments = told.get(2) == null ? null : Json.write(told.get(2));
        yield view.requestState(
            RequestContext.ofJson((String) told.get(0), (String) told.get(1), arguments));
      }
      case "cursor" -> view.cursor((String) token.get("label"));
      default -> view.session();
    };
  }

  static String changed(String text, Object change) {
    if (change == null) {
      return text;
    }
    // Not the last character, of which some bits may be unused.
    int place = text.length() - 5;
    return switch ((String) change) {
      case "flip" ->
          text.substring(0, place)
              + (text.charAt(place) == 'a' ? "b" : "a")
              + text.substring(place + 1);
      case "pad" -> text + "=";
      case "cut" -> text.substring(0, text.length() - 1);
      case "double" -> text + text;
      default -> throw new IllegalArgumentException("change " + change);
    };
  }

  /** Runs {@code body} some time ago. */
  private <T> T ago(Object age, java.util.function.Supplier<T> body) {
    clock.set(Instant.ofEpochSecond(now - number(age, 0)));
    try {
      return body.get();
    } finally {
      clock.set(Instant.ofEpochSecond(now));
    }
  }

  /** Returns a value of a transcript, with what it names put in. */
  Object resolved(Object value) {
    if (value instanceof List<?> items) {
      return new ArrayList<>(items.stream().map(this::resolved).toList());
    }
    if (!(value instanceof Map)) {
      return value;
    }
    Map<String, Object> named = object(value);
    if (named.containsKey("$token")) {
      return token(named.get("$token"));
    }
    if (named.containsKey("$session")) {
      return session(named);
    }
    if (named.containsKey("$handle")) {
      return handle(named.get("$handle"));
    }
    Map<String, Object> resolved = new LinkedHashMap<>();
    named.forEach((name, member) -> resolved.put(name, resolved(member)));
    return resolved;
  }

  private String token(Object named) {
    if (named instanceof String name) {
      return tokens.get(name);
    }
    Map<String, Object> token = object(named);
    byte[] payload = ((String) token.get("payload")).getBytes(StandardCharsets.UTF_8);
    String made =
        ago(
            token.get("age"),
            () -> {
              Sealer sealer = sealer(view(token), token);
              Object ttl = token.get("ttl");
              return ttl == null
                  ? sealer.seal(payload)
                  : sealer.seal(payload, Lifetime.of(Duration.ofSeconds(number(ttl, 0))));
            });
    made = changed(made, token.get("change"));
    if (token.get("name") instanceof String name) {
      tokens.put(name, made);
    }
    return made;
  }

  private Object session(Map<String, Object> named) {
    Map<String, Object> made = named;
    Map<String, Object> metadata;
    if (named.get("$session") instanceof String which) {
      List<Map<String, Object>> versions = sessions.get(which);
      int version = (int) number(named.get("version"), versions.size() - 1);
      metadata = new LinkedHashMap<>(versions.get(version));
    } else {
      made = object(named.get("$session"));
      metadata = new LinkedHashMap<>(madeSession(made));
    }
    list(made.get("without")).forEach(metadata::remove);
    return named.get("member") == null ? metadata : metadata.get(named.get("member"));
  }

  private Map<String, Object> madeSession(Map<String, Object> made) {
    Map<String, Object> metadata = created(made, made.containsKey("idAge") ? "idAge" : "age");
    if (made.containsKey("idAge") || made.containsKey("stateOf")) {
      metadata.put("state", created(made, "age").get("state"));
    }
    metadata.put("state", made.getOrDefault("state", metadata.get("state")));
    Map<String, String> changes = Map.of("sessionId", "changeId", "state", "changeState");
    changes.forEach(
        (member, change) -> {
          if (metadata.get(member) instanceof String text) {
            metadata.put(member, changed(text, made.get(change)));
          }
        });
    if (made.get("name") instanceof String name) {
      sessions.computeIfAbsent(name, it -> new ArrayList<>()).add(metadata);
    }
    return metadata;
  }

  private Map<String, Object> created(Map<String, Object> made, String age) {
    byte[] payload = ((String) made.getOrDefault("payload", "1")).getBytes(StandardCharsets.UTF_8);
    return ago(
        made.get(age),
        () -> {
          Object ttl = made.get("ttl");
          Lifetime lifetime = ttl == null ? null : Lifetime.of(Duration.ofSeconds(number(ttl, 0)));
          View of = view(made);
          return new LinkedHashMap<>(
              (lifetime == null ? of.sessions() : of.sessions(lifetime)).create(payload).toMap());
        });
  }

  private String handle(Object named) {
    if (named instanceof String name) {
      return handles.get(name);
    }
    Map<String, Object> made = object(named);
    String text =
        ago(
            made.get("age"),
            () -> {
              View of = view(made);
              String type = (String) made.get("type");
              return made.get("payload") instanceof String payload
                  ? of.handleState(type).seal(payload.getBytes(StandardCharsets.UTF_8))
                  : of.mintHandle(type);
            });
    return changed(text, made.get("change"));
  }
}
