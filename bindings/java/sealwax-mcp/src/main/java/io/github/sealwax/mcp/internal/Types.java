package io.github.sealwax.mcp.internal;

import io.modelcontextprotocol.json.TypeRef;
import java.lang.reflect.Type;

/** Types for the SDK's mapper. */
public final class Types {
  private Types() {}

  public static <T> TypeRef<T> of(Class<T> type) {
    return new TypeRef<>() {
      @Override
      public Type getType() {
        return type;
      }
    };
  }
}
