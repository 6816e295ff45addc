package io.github.sealwax.clibrary;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.sealwax.Key;
import io.github.sealwax.internal.Library;
import org.junit.jupiter.api.Test;

/** The other tests run on the C library indeed. */
class ProviderTest {
  @Test
  void theLibraryIsTheOneInC() {
    int pointerSize = Library.shared().call(call -> call.pointerSize());
    assertEquals(8, pointerSize);
    assertEquals(8, Key.generate().id().length());
  }
}
