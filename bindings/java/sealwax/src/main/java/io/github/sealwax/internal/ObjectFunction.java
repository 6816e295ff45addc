package io.github.sealwax.internal;

import org.jspecify.annotations.Nullable;

/** What a call does with an object of the ABI. */
@FunctionalInterface
public interface ObjectFunction<T extends @Nullable Object> {
  /** Uses the object at {@code address}. */
  T apply(Call call, long address);
}
