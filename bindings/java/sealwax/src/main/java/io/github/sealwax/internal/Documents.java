package io.github.sealwax.internal;

import io.github.sealwax.InvalidArgumentException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** JSON, and the functions of the ABI that take or return it and need no other object. */
public final class Documents {
  private static final int PRINCIPAL_MAX = 20480;
  private static final int TOKEN_FIELDS_MAX = 256;
  private static final int ANSWER_MAX = 4096;
  private static final int REPORT_MAX = 512;
  private static final int CONTEXT = 32;

  private static final JsonFactory JSON = JsonFactory.builder().build();

  private Documents() {}

  /** Reads an object that the core wrote. */
  public static Map<String, Object> read(byte[] json) {
    try (JsonParser parser = JSON.createParser(ObjectReadContext.empty(), json)) {
      parser.nextToken();
      @SuppressWarnings("unchecked")
      Map<String, Object> object = (Map<String, Object>) value(parser);
      return object;
    }
  }

  private static @Nullable Object value(JsonParser parser) {
    return switch (parser.currentToken()) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          members.put(name, value(parser));
        }
        yield members;
      }
      case START_ARRAY -> {
        List<@Nullable Object> elements = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          elements.add(value(parser));
        }
        yield elements;
      }
      case VALUE_STRING -> parser.getString();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      default -> null;
    };
  }

  /**
   * Writes a value of the author's: texts, numbers, truth values, lists and maps. Any other object
   * is written as its text.
   *
   * @throws InvalidArgumentException for what JSON cannot hold
   */
  public static byte[] write(String name, @Nullable Object value) {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    try (JsonGenerator generator = JSON.createGenerator(ObjectWriteContext.empty(), json)) {
      write(generator, value);
    } catch (JacksonException | StackOverflowError unfit) {
      throw new InvalidArgumentException(
          name + ": expected a value that JSON can hold: " + unfit.getMessage());
    }
    return json.toByteArray();
  }

  private static void write(JsonGenerator generator, @Nullable Object value) {
    if (value instanceof Map<?, ?> members) {
      generator.writeStartObject();
      for (Map.Entry<?, ?> member : members.entrySet()) {
        generator.writeName(String.valueOf(member.getKey()));
        write(generator, member.getValue());
      }
      generator.writeEndObject();
    } else if (value instanceof Iterable<?> elements) {
      generator.writeStartArray();
      for (Object element : elements) {
        write(generator, element);
      }
      generator.writeEndArray();
    } else if (value instanceof Boolean truth) {
      generator.writeBoolean(truth);
    } else if (value instanceof Number number) {
      number(generator, number);
    } else if (value == null) {
      generator.writeNull();
    } else {
      generator.writeString(value.toString());
    }
  }

  private static void number(JsonGenerator generator, Number number) {
    double approximate = number.doubleValue();
    if (Double.isNaN(approximate)
        || (Double.isInfinite(approximate)
            && (number instanceof Double || number instanceof Float))) {
      throw new InvalidArgumentException("expected numbers that JSON can hold, found " + number);
    }
    generator.writeNumber(number.toString());
  }

  // ---- requests ----

  /** Returns the 32 bytes that name a request. */
  public static byte[] requestContext(
      byte[] method, byte[] target, byte @Nullable [] arguments, @Nullable List<String> only) {
    return Library.shared()
        .call(
            x -> {
              long context = x.room(CONTEXT);
              x.withBytes(method, target, arguments);
              if (only == null) {
                x.call(Function.REQUEST_CONTEXT, context);
              } else {
                x.call(Function.REQUEST_CONTEXT_ONLY, names(x, only), only.size(), context);
              }
              return x.read(context, CONTEXT);
            });
  }

  private static long names(Call x, List<String> only) {
    int size = x.pointerSize();
    long array = x.room(size * only.size());
    for (int index = 0; index < only.size(); index++) {
      String name = only.get(index);
      if (name.indexOf('\0') >= 0) {
        throw new InvalidArgumentException("only: expected names without NUL");
      }
      x.writeWord(array + (long) size * index, x.bytes(Text.bytes("only", name + '\0')));
    }
    return array;
  }

  /** Returns the members of a method's messages that carry a token. */
  public static @Nullable Map<String, Object> tokenFields(String method) {
    byte[] name = Text.untrusted(method);
    return read(told(TOKEN_FIELDS_MAX, Function.TOKEN_FIELDS, x -> x.withBytes(name)));
  }

  /** Returns the parts of the principal of these claims. */
  public static Map<String, Object> principal(Map<String, ?> claims) {
    byte[] json = write("claims", claims);
    return read(told(PRINCIPAL_MAX, Function.PRINCIPAL_FROM_CLAIMS, x -> x.withBytes(json)));
  }

  /** Returns the answer for the client. */
  public static String answer(String profile, int status, @Nullable String sessionId) {
    byte[] name = Text.bytes("profile", profile);
    byte[] echoed = sessionId == null ? null : Text.untrusted(sessionId);
    byte[] answer =
        told(ANSWER_MAX, Function.ANSWER, x -> x.withBytes(name).with(status).withBytes(echoed));
    return new String(answer, StandardCharsets.UTF_8);
  }

  /** Returns what a text is. */
  public static Map<String, Object> report(String text) {
    byte[] found = Text.untrusted(text);
    return read(told(REPORT_MAX, Function.REPORT_JSON, x -> x.withBytes(found).with(0)));
  }

  /** Calls a function that writes up to {@code most} bytes, with what is given to the call. */
  private static byte[] told(int most, Function function, UnaryOperator<Call> given) {
    return Library.shared()
        .call(
            x -> {
              Output out = x.output(most);
              given.apply(x).withOutput(out).call(function);
              return out.bytes();
            });
  }
}
