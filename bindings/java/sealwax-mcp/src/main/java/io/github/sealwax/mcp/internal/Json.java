package io.github.sealwax.mcp.internal;

import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.TypeRef;
import java.io.IOException;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** JSON by the mapper of the SDK, so that both read the same. */
public final class Json {
  public static final McpJsonMapper MAPPER = McpJsonDefaults.getMapper();
  private static final TypeRef<Map<String, Object>> OBJECT = new TypeRef<>() {};

  private Json() {}

  /** Reads a document of the engine. */
  public static Map<String, Object> object(String text) {
    try {
      return MAPPER.readValue(text, OBJECT);
    } catch (IOException e) {
      throw new IllegalStateException("expected a document", e);
    }
  }

  /** Returns a type as the mapper takes it. */
  public static <T> TypeRef<T> type(Class<T> type) {
    return new TypeRef<>() {
      @Override
      public Type getType() {
        return type;
      }
    };
  }

  public static <T> T value(String text, TypeRef<T> type) {
    try {
      return MAPPER.readValue(text, type);
    } catch (IOException e) {
      // Its message quotes the value, and the SDK logs what a handler throws.
      throw new IllegalArgumentException(
          "value: expected JSON of " + type.getType().getTypeName() + ": " + Failures.named(e));
    }
  }

  public static String write(@Nullable Object value) {
    try {
      return MAPPER.writeValueAsString(value);
    } catch (IOException e) {
      throw new IllegalArgumentException("value: expected one that JSON can hold", e);
    }
  }

  /**
   * Writes a value of a client; what UTF-8 cannot hold stays an escape, which the engine refuses.
   * The mapper reads a number out of range as infinite, and would write the text "Infinity": it
   * becomes a number that the engine refuses too.
   */
  public static String writeClients(@Nullable Object value) {
    String text = write(value);
    if (text.contains("Infinity\"")) {
      text = write(inRange(value));
    }
    if (isUnicode(text)) {
      return text;
    }
    StringBuilder escaped = new StringBuilder();
    text.codePoints()
        .forEach(
            point -> {
              if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
                escaped.append("\\u%04x".formatted(point));
              } else {
                escaped.appendCodePoint(point);
              }
            });
    return escaped.toString();
  }

  /** Returns a value of a client, or a server's own, as the bytes of {@link #writeClients}. */
  public static byte[] bytes(@Nullable Object value) {
    return writeClients(value).getBytes(StandardCharsets.UTF_8);
  }

  private static @Nullable Object inRange(@Nullable Object value) {
    if (value instanceof Map<?, ?> members) {
      Map<Object, @Nullable Object> all = new LinkedHashMap<>();
      members.forEach((name, member) -> all.put(name, inRange(member)));
      return all;
    }
    if (value instanceof List<?> items) {
      List<@Nullable Object> all = new ArrayList<>();
      items.forEach(item -> all.add(inRange(item)));
      return all;
    }
    return value instanceof Double number && number.isInfinite() ? Double.MAX_VALUE : value;
  }

  /** Returns an object of the SDK, or a map already, as a map. */
  @SuppressWarnings("unchecked")
  public static @Nullable Map<String, Object> members(@Nullable Object value) {
    if (value == null || value instanceof Map) {
      return (Map<String, Object>) value;
    }
    try {
      return MAPPER.convertValue(value, OBJECT);
    } catch (RuntimeException e) {
      return null;
    }
  }

  /** Returns a client's value as documents take it: a text, {@code true} for any other, or null. */
  public static @Nullable Object clientValue(@Nullable Object value) {
    if (value == null) {
      return null;
    }
    return value instanceof String text && isUnicode(text) ? text : true;
  }

  private static boolean isUnicode(String text) {
    for (int at = 0; at < text.length(); at++) {
      if (Character.isSurrogate(text.charAt(at))) {
        return StandardCharsets.UTF_8.newEncoder().canEncode(text);
      }
    }
    return true;
  }

  /** Returns a result in which members are set, as the engine says: by paths, and values. */
  public static Map<String, Object> changed(Map<?, ?> result, List<?> set) {
    Map<String, Object> changed = copy(result);
    for (Object change : set) {
      List<?> pair = (List<?>) change;
      List<?> path = (List<?>) pair.get(0);
      Map<String, Object> place = changed;
      for (Object name : path.subList(0, path.size() - 1)) {
        Map<String, Object> inner = copy(place.get(name));
        place.put((String) name, inner);
        place = inner;
      }
      place.put((String) path.get(path.size() - 1), pair.get(1));
    }
    return changed;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> copy(@Nullable Object value) {
    return value instanceof Map
        ? new LinkedHashMap<>((Map<String, Object>) value)
        : new LinkedHashMap<>();
  }
}
