package io.github.sealwax.mcp;

import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** Values of JSON, by their types. */
final class Values {
  private Values() {}

  /** Returns an object, for none an empty one. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  /** Returns an array, for none an empty one. */
  @SuppressWarnings("unchecked")
  static List<Object> list(Object value) {
    return value == null ? List.of() : (List<Object>) value;
  }

  /** Returns what a function makes of a value by a member; if there is none, the value. */
  static <T> T with(
      Map<String, Object> members, String name, T value, BiFunction<T, Object, T> change) {
    return members.containsKey(name) ? change.apply(value, members.get(name)) : value;
  }
}
