package io.github.sealwax.mcp.internal;

import io.github.sealwax.Codec;
import io.github.sealwax.TokenFields;
import io.github.sealwax.internal.Access;
import io.github.sealwax.internal.CodecObject;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Machine;
import io.github.sealwax.internal.Replicated;
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
 * every pooled instance that needs it; an exchange lives in one, from its beginning to its end.
 */
public final class Engine {
  /** Of a client, what is no text. */
  private static final String NO_TEXT = "\ud800";

  /** Clients make up methods: only these many are remembered. */
  private static final int REMEMBERED = 256;

  private final Library library;
  private final CodecObject codec;
  private final Replicated guard;
  private volatile boolean defers;
  private final Map<String, Optional<TokenFields>> fields = new ConcurrentHashMap<>();

  public Engine(Codec of, Map<String, Object> settings) {
    codec = Access.codec(of);
    library = codec.library();
    Frame frame = new Frame(Frame.GUARD, Text.bytes("settings", Json.write(settings)));
    guard =
        new Replicated(
            library,
            x -> {
              long made = Machine.make(x, codec.in(x), 0, frame);
              defers = Frame.Answer.made(x, made).has(Frame.DEFERS);
              return x.readWord(made);
            },
            Function.MACHINE_FREE);
    // The first use: it throws for settings that contradict themselves.
    guard.call((x, address) -> address);
  }

  /** Makes a machine of the guard, which has the present keys of its codec. */
  private Machine.Begun machine(Frame frame) {
    return guard.call(
        (x, address) -> {
          codec.refresh(x);
          return Machine.begin(library, x, address, frame);
        });
  }

  /** Returns whether the exchange of some messages may begin late. */
  public boolean defers() {
    return defers;
  }

  /** Returns the members of a method's messages that carry a token; null if there are none. */
  public @Nullable TokenFields tokenFields(String method) {
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
  public void checkHandleType(String type) {
    byte[] text = Text.bytes("type", type);
    library.call(
        x -> {
          x.withBytes(text).call(Function.CHECK_HANDLE_TYPE);
          return null;
        });
  }

  /** An exchange, and its first step. */
  public record Begun(Exchange exchange, Step step) {
    private Begun(Machine.Begun begun, @Nullable TokenFields carried) {
      this(new Exchange(begun.machine()), Engine.step(begun.answer(), carried));
    }
  }

  /** Begins the exchange of a message at the SDK's handlers, with its frame's texts. */
  public Begun message(int flags, @Nullable TokenFields carried, byte @Nullable []... texts) {
    return new Begun(machine(new Frame(Frame.MESSAGE, flags, texts)), carried);
  }

  /** Begins the exchange of an HTTP request, by the values of its headers. */
  public Begun http(
      String method, List<String> version, List<String> session, List<String> encoding) {
    Frame frame =
        new Frame(Frame.HTTP, sent(method), header(version), header(session), header(encoding));
    return new Begun(machine(frame), null);
  }

  /** Begins the exchange that signs a principal out; without a time, for 400 days. */
  public Begun revoke(Map<String, Object> principal, @Nullable Long retainFor) {
    byte[] who = Text.bytes("principal", Json.write(principal));
    return new Begun(machine(new Frame(Frame.REVOCATION, who, Text.decimal(retainFor))), null);
  }

  /** Begins the exchange that opens a link. */
  public Begun link(Map<String, Object> operation) {
    return new Begun(machine(frame(Frame.HANDLE, "operation", operation, null)), null);
  }

  /** Returns the entry of the log for a mistake that this side found. */
  public Map<String, Object> report(Map<String, Object> fault) {
    Machine.Begun made = machine(new Frame(Frame.REPORT, Json.bytes(fault)));
    made.machine().close();
    return Json.object(made.answer().text());
  }

  /**
   * The answer to a question, as JSON, or why there is none: what names what was thrown, or what is
   * wrong. With none of these it is late.
   */
  public record Told(@Nullable String value, @Nullable String threw, @Nullable String wrong) {
    public static final Told LATE = new Told(null, null, null);

    public static Told of(@Nullable Object value) {
      return new Told(Json.write(value), null, null);
    }

    /** With what may be a client's. */
    public static Told ofClients(@Nullable Object value) {
      return new Told(Json.writeClients(value), null, null);
    }

    public static Told threw(Throwable failure) {
      return new Told(null, Failures.named(failure), null);
    }

    public static Told wrong(String why) {
      return new Told(null, null, why);
    }
  }

  /** One message, from its arrival to its answer. Threads may share it until it is closed. */
  public static final class Exchange implements AutoCloseable {
    private final Machine machine;
    private volatile long began;

    private Exchange(Machine machine) {
      this.machine = machine;
    }

    /**
     * Returns when the handler's result or operation came, by the clock of {@link System#nanoTime};
     * 0 for not yet.
     */
    public long began() {
      return began;
    }

    /** Gives the answer to what was asked; returns the next step. */
    public Step told(Told told) {
      Frame frame =
          new Frame(
              Frame.TOLD,
              Text.optional("answer", told.value()),
              sent(told.threw()),
              sent(told.wrong()));
      return step(machine.on(frame), null);
    }

    /** Gives the body of the HTTP request, null if it is too large; returns the next step. */
    public Step body(byte @Nullable [] body) {
      int flags = body == null ? Frame.TOO_LARGE : 0;
      return step(machine.on(new Frame(Frame.BODY, flags, body)), null);
    }

    /** Takes the beginning of the answer; returns whether its body may change. */
    public boolean answer(int status, @Nullable String contentType, @Nullable String session) {
      began = System.nanoTime();
      Frame frame =
          new Frame(Frame.ANSWER, Text.decimal((long) status), sent(contentType), sent(session));
      return machine.on(frame).has(Frame.CHANGES);
    }

    /** Takes the whole body of the answer; returns the next step, with the body to send. */
    public Step answered(byte[] body) {
      String ready = machine.on(new Frame(Frame.PIECE, body)).text();
      Step step = step(machine.on(new Frame(Frame.ANSWERED)), null);
      return ready == null ? step : step.after(ready.getBytes(StandardCharsets.UTF_8));
    }

    /** Reports the result of a delivered message, the whole if asked; returns the next step. */
    public Step result(Map<String, Object> result, @Nullable TokenFields carried, boolean whole) {
      began = System.nanoTime();
      Frame frame =
          new Frame(
              Frame.RESULT,
              result.get("ttlMs") == null ? 0 : Frame.TTL,
              sent(result.get("resultType")),
              sent(result.get("cacheScope")),
              carried == null ? null : sent(result.get(carried.result())),
              whole ? Text.bytes("result", Json.write(result)) : null);
      return step(machine.on(frame), carried);
    }

    /** Begins the exchange of one operation on a handle. */
    public Begun handle(Map<String, Object> operation, @Nullable String value) {
      long now = System.nanoTime();
      Begun begun =
          new Begun(machine.begin(frame(Frame.HANDLE, "operation", operation, value)), null);
      begun.exchange().began = now;
      return begun;
    }

    /** Returns the token of the next {@code requestState}, a value as JSON. */
    public String sealState(String value) {
      return machine.on(new Frame(Frame.SEAL_STATE, Text.bytes("value", value))).text();
    }

    /** Returns the request's key for another service. */
    public String idempotencyKey() {
      return machine.on(new Frame(Frame.IDEMPOTENCY_KEY)).text();
    }

    /** Writes the session's value, as JSON. */
    public void write(String value) {
      machine.on(new Frame(Frame.WRITE, Text.bytes("value", value)));
    }

    /** Returns the metadata of a new session. */
    public Map<String, Object> fork() {
      return Json.object(machine.on(new Frame(Frame.FORK)).text());
    }

    /** Frees it; this cancels it at any step. */
    @Override
    public void close() {
      machine.close();
    }
  }

  /** Returns an answer as a step, of a message that carries its token in these members. */
  private static Step step(Frame.Answer answer, @Nullable TokenFields carried) {
    String text = answer.text();
    boolean delivers = answer.kind() == Frame.DELIVER;
    if (!delivers && answer.kind() != Frame.RESPOND) {
      return new Step(Json.object(text), answer.bytes());
    }
    Map<String, Object> step = new HashMap<>();
    step.put("step", delivers ? "deliver" : "respond");
    if (delivers) {
      step.put("opened", text);
      step.put("report", carried == null ? null : carried.result());
    } else if (text != null && carried != null) {
      step.put("set", List.of(List.of(List.of(carried.result()), text)));
    }
    if (answer.bytes() != null) {
      String events = new String(answer.bytes(), StandardCharsets.UTF_8);
      step.put("events", Json.object("{\"events\":" + events + "}").get("events"));
    }
    return new Step(step);
  }

  private static Frame frame(
      int kind, String name, Map<String, Object> document, @Nullable String beside) {
    byte[] written = Text.bytes(name, Json.write(document));
    return new Frame(kind, written, Text.optional("value", beside));
  }

  /** Returns a client's value as a frame takes it. */
  public static byte @Nullable [] sent(@Nullable Object value) {
    if (value == null) {
      return null;
    }
    return Text.untrusted(value instanceof String text ? text : NO_TEXT);
  }

  /** Returns a header's value; several are no text. */
  private static byte @Nullable [] header(List<String> values) {
    return values.isEmpty() ? null : sent(values.size() == 1 ? values.get(0) : NO_TEXT);
  }
}
