package io.github.sealwax.mcp;

import java.util.List;
import java.util.Map;

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
}
