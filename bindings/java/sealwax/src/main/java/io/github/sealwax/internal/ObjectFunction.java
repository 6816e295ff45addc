package io.github.sealwax.internal;

import org.jspecify.annotations.Nullable;

/** What a crossing does with an object of the ABI. */
@FunctionalInterface
public interface ObjectFunction<T extends @Nullable Object> {
  /** Uses the object at {@code address}. */
  T apply(Crossing crossing, long address);
}
