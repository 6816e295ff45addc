package io.github.sealwax.mcp;

import io.github.sealwax.Codec;
import io.github.sealwax.TokenFields;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.CodecObject;
import io.github.sealwax.internal.Crossing;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Output;
import io.github.sealwax.internal.Pinned;
import io.github.sealwax.internal.Replicated;
import io.github.sealwax.internal.Struct;
import io.github.sealwax.internal.Text;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The guard's engine: documents in and documents out, in the form of docs/engine.md. A guard is in
 * every shard that needs it; an exchange lives in one, from its beginning to its end.
 */
final class Engine {
  /** What a client sent and is no text, as C takes it: bytes that are not UTF-8. */
  private static final byte[] NO_TEXT = {(byte) 0xff};

  private static final int NOTIFICATION = 1;
  private static final int MODERN = 2;
  private static final int NEXT_STEP = 0;
  private static final int NEXT_DELIVER = 1;

  /** Clients make up methods: only these many are remembered. */
  private static final int REMEMBERED = 256;

  private final Library library;
  private final Replicated guard;
  private final boolean hasEvents;
  private final boolean defers;
  private final Map<String, Optional<TokenFields>> fields = new ConcurrentHashMap<>();

  Engine(Codec of, Map<String, Object> settings) {
    CodecObject codec = Access.codec(of);
    library = codec.library();
    byte[] written = bytes(Json.write(settings));
    hasEvents = Boolean.TRUE.equals(settings.get("events"));
    guard =
        new Replicated(
            library,
            x -> {
              long out = x.room(8);
              x.call(Function.GUARD_NEW, codec.in(x), x.bytes(written), written.length, out);
              return x.readWord(out);
            },
            Function.GUARD_FREE);
    // The first use: it throws for settings that contradict themselves.
    defers = guard.cross((x, address) -> x.plain(Function.GUARD_DEFERS, address) != 0);
  }

  /** Returns whether the exchange of some messages may begin late. */
  boolean defers() {
    return defers;
  }

  /** Returns the members of a method's messages that carry a token; null if there are none. */
  @Nullable TokenFields tokenFields(String method) {
    if (Json.clientValue(method) != method) {
      return null;
    }
    Optional<TokenFields> known = fields.get(method);
    if (known == null) {
      known = Optional.ofNullable(TokenFields.of(method));
      if (fields.size() < REMEMBERED) {
        fields.put(method, known);
      }
    }
    return known.orElse(null);
  }

  /** Checks a type of handles. */
  void checkHandleType(String type) {
    byte[] text = Text.bytes("type", type);
    library.cross(
        x -> {
          x.call(Function.CHECK_HANDLE_TYPE, x.bytes(text), text.length);
          return null;
        });
  }

  /** A message at the SDK's handlers. */
  record Message(
      String method,
      @Nullable Object target,
      @Nullable String arguments,
      @Nullable Object token,
      @Nullable Map<String, Object> session,
      @Nullable String header,
      @Nullable Map<String, Object> caller,
      @Nullable Long withinMs,
      boolean isNotification,
      boolean isModern) {}

  /** An exchange, and its first step. */
  record Begun(Exchange exchange, Step step) {}

  /** Begins the exchange of a message: without a document, unless it has a session. */
  Begun message(Message message, @Nullable TokenFields carried) {
    if (message.session() != null) {
      return document(message);
    }
    byte[] method = sent(message.method());
    byte[] target = sent(message.target());
    byte[] arguments = message.arguments() == null ? null : bytes(message.arguments());
    byte[] token = sent(message.token());
    int flags = (message.isNotification() ? NOTIFICATION : 0) | (message.isModern() ? MODERN : 0);
    return guard.cross(
        (x, address) -> {
          long out = x.room(32);
          x.call(
              Function.GUARD_REQUEST,
              address,
              x.bytes(method),
              length(method),
              x.bytes(target),
              length(target),
              x.bytes(arguments),
              length(arguments),
              x.bytes(token),
              length(token),
              caller(x, message.caller()),
              x.number(message.withinMs()),
              flags,
              out,
              out + 8,
              out + 16,
              out + 24);
          long begun = x.readWord(out);
          Exchange exchange = new Exchange(x, begun);
          return new Begun(exchange, next(x, begun, out + 8, carried));
        });
  }

  private Begun document(Message message) {
    Map<String, Object> document = new HashMap<>();
    Object method = Json.clientValue(message.method());
    Object target = Json.clientValue(message.target());
    document.put("method", method instanceof String ? method : "");
    document.put("target", target instanceof String ? target : null);
    document.put("token", Json.clientValue(message.token()));
    document.put("notification", message.isNotification());
    document.put("modern", message.isModern());
    document.put("session", message.session());
    document.put("header", message.header());
    document.put("principal", message.caller());
    document.put("withinMs", message.withinMs());
    return begun(Function.GUARD_MESSAGE, document, message.arguments());
  }

  /** Begins the exchange of a message around HTTP. */
  Begun transport(Map<String, Object> document, @Nullable String initialize) {
    return begun(Function.GUARD_TRANSPORT, document, initialize);
  }

  private Begun begun(Function function, Map<String, Object> document, @Nullable String beside) {
    byte[] written = bytes(Json.write(document));
    byte[] more = beside == null ? null : bytes(beside);
    return guard.cross(
        (x, address) -> {
          long out = x.room(24);
          x.call(
              function,
              address,
              x.bytes(written),
              written.length,
              x.bytes(more),
              length(more),
              out,
              out + 8,
              out + 16);
          return begun(x, out);
        });
  }

  /** Begins the exchange that signs a principal out. */
  Begun revoke(Map<String, Object> principal, long retainFor) {
    byte[] written = bytes(Json.write(principal));
    return guard.cross(
        (x, address) -> {
          long out = x.room(24);
          x.call(
              Function.GUARD_REVOKE,
              address,
              x.bytes(written),
              written.length,
              retainFor,
              out,
              out + 8,
              out + 16);
          return begun(x, out);
        });
  }

  private Begun begun(Crossing x, long out) {
    Exchange exchange = new Exchange(x, x.readWord(out));
    return new Begun(exchange, Step.read(text(x, out + 8)));
  }

  /** Returns the entry of the log for a mistake that this side found. */
  Map<String, Object> report(Map<String, Object> fault) {
    byte[] written = bytes(Json.write(fault));
    String entry =
        guard.cross(
            (x, address) -> {
              // The line holds at most 820 characters of others, which take 14 bytes each.
              Output out = x.output(written.length + 16384);
              x.call(
                  Function.GUARD_REPORT,
                  address,
                  x.bytes(written),
                  written.length,
                  out.address(),
                  out.capacity(),
                  out.length());
              return out.text();
            });
    return Json.object(entry);
  }

  /** One message, from its arrival to its answer. Threads may share it until it is closed. */
  final class Exchange implements AutoCloseable {
    private final Pinned pinned;
    private volatile long began;

    private Exchange(Crossing x, long address) {
      pinned = new Pinned(library, x, address, Function.EXCHANGE_FREE);
    }

    /**
     * Returns when the handler's result or operation came, by the clock of {@link System#nanoTime};
     * 0 for not yet.
     */
    long began() {
      return began;
    }

    /** Reports the outcome of the last step; returns the next one. */
    Step on(Map<String, Object> event, @Nullable String value) {
      if (event.containsKey("result")) {
        began = System.nanoTime();
      }
      byte[] written = bytes(Json.write(event));
      byte[] beside = value == null ? null : bytes(value);
      String step =
          pinned.cross(
              (x, address) -> {
                long out = x.room(16);
                x.call(
                    Function.EXCHANGE_ON,
                    address,
                    x.bytes(written),
                    written.length,
                    x.bytes(beside),
                    length(beside),
                    out,
                    out + 8);
                return text(x, out);
              });
      return Step.read(step);
    }

    /** Reports the result of a delivered message; returns the next step. */
    Step result(Map<String, Object> result, @Nullable TokenFields carried) {
      began = System.nanoTime();
      byte[] resultType = sent(result.get("resultType"));
      byte[] cacheScope = sent(result.get("cacheScope"));
      byte[] token = carried == null ? null : sent(result.get(carried.result()));
      long hasTtl = result.get("ttlMs") == null ? 0 : 1;
      return pinned.cross(
          (x, address) -> {
            long out = x.room(24);
            x.call(
                Function.EXCHANGE_RESULT,
                address,
                x.bytes(resultType),
                length(resultType),
                x.bytes(cacheScope),
                length(cacheScope),
                x.bytes(token),
                length(token),
                hasTtl,
                out,
                out + 8,
                out + 16);
            return next(x, address, out, carried);
          });
    }

    /** Begins the exchange of one operation on a handle. */
    Begun handle(Map<String, Object> operation, @Nullable String value) {
      long now = System.nanoTime();
      byte[] written = bytes(Json.write(operation));
      byte[] beside = value == null ? null : bytes(value);
      return pinned.cross(
          (x, address) -> {
            long out = x.room(24);
            x.call(
                Function.EXCHANGE_HANDLE,
                address,
                x.bytes(written),
                written.length,
                x.bytes(beside),
                length(beside),
                out,
                out + 8,
                out + 16);
            Begun begun = begun(x, out);
            begun.exchange().began = now;
            return begun;
          });
    }

    /** Returns the token of the next {@code requestState}, a value as JSON. */
    String sealState(String value) {
      byte[] written = bytes(value);
      return pinned.cross(
          (x, address) -> {
            long out = x.room(16);
            x.call(
                Function.EXCHANGE_SEAL_STATE,
                address,
                x.bytes(written),
                written.length,
                out,
                out + 8);
            return text(x, out);
          });
    }

    /** Writes the session's value, as JSON. */
    void write(String value) {
      write(Function.EXCHANGE_WRITE, value);
    }

    /** Writes the session's value as its update functions made it, as JSON. */
    void update(String value) {
      write(Function.EXCHANGE_UPDATE, value);
    }

    private void write(Function function, String value) {
      byte[] written = bytes(value);
      pinned.cross(
          (x, address) -> {
            x.call(function, address, x.bytes(written), written.length);
            return null;
          });
    }

    /** Returns the metadata of a new session. */
    Map<String, Object> fork() {
      String metadata =
          pinned.cross(
              (x, address) -> {
                long out = x.room(16);
                x.call(Function.EXCHANGE_FORK, address, out, out + 8);
                return text(x, out);
              });
      return Json.object(metadata);
    }

    /** Frees it; this cancels it at any step. */
    @Override
    public void close() {
      pinned.close();
    }
  }

  /**
   * Returns what is next as a step; at {@code out} are its number, its text and the size of that.
   */
  private Step next(Crossing x, long address, long out, @Nullable TokenFields carried) {
    int kind = x.readInt(out);
    String text = x.readWord(out + 8) == 0 ? null : text(x, out + 8);
    if (kind == NEXT_STEP && text != null) {
      return Step.read(text);
    }
    Map<String, Object> step = new HashMap<>();
    step.put("step", kind == NEXT_DELIVER ? "deliver" : "respond");
    if (kind == NEXT_DELIVER) {
      step.put("opened", text);
      step.put("report", carried == null ? null : carried.result());
    } else if (text != null && carried != null) {
      step.put("result", Map.of(carried.result(), text));
    }
    if (hasEvents && text != null) {
      long events = x.room(16);
      x.call(Function.EXCHANGE_EVENTS, address, events, events + 8);
      step.put("events", Json.object("{\"events\":" + text(x, events) + "}").get("events"));
    }
    return new Step(step);
  }

  /** Returns a text of the engine, of which the pointer and the size are at {@code out}. */
  static String text(Crossing x, long out) {
    return x.text(x.readWord(out), (int) x.readWord(out + 8));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static int length(byte @Nullable [] bytes) {
    return bytes == null ? 0 : bytes.length;
  }

  private static byte[] untrusted(String text) {
    return Json.clientValue(text) == text ? bytes(text) : NO_TEXT;
  }

  /** Returns a client's value as C takes it. */
  private static byte @Nullable [] sent(@Nullable Object value) {
    if (value == null) {
      return null;
    }
    return value instanceof String text ? untrusted(text) : NO_TEXT;
  }

  /** Writes the struct of a caller. */
  private static long caller(Crossing x, @Nullable Map<String, Object> caller) {
    if (caller == null) {
      return 0;
    }
    Struct struct = x.struct(8 * x.pointerSize());
    for (String name : List.of("issuer", "client", "subject")) {
      Object part = caller.get(name);
      struct.bytes(part == null ? null : Text.bytes(name, (String) part));
    }
    return struct.last(Boolean.TRUE.equals(caller.get("anonymous"))).address();
  }
}
