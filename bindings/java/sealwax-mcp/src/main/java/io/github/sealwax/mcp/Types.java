package io.github.sealwax.mcp;

import io.modelcontextprotocol.json.TypeRef;
import java.lang.reflect.Type;

/** Types for the SDK's mapper. */
final class Types {
  private Types() {}

  static <T> TypeRef<T> of(Class<T> type) {
    return new TypeRef<>() {
      @Override
      public Type getType() {
        return type;
      }
    };
  }
}
