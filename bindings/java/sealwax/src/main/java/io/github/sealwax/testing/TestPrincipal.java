package io.github.sealwax.testing;

import io.github.sealwax.Principal;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The principal of all requests of a test, which it may set between them. */
public final class TestPrincipal implements Supplier<@Nullable Principal> {
  private volatile @Nullable Principal principal;

  /** Makes nobody: a caller who is not authenticated. */
  public TestPrincipal() {}

  /** Makes a user of this service. */
  public TestPrincipal(String subject) {
    set(Principal.subject(subject));
  }

  /** Sets whoever sends the next requests; {@code null} is a caller who is not authenticated. */
  public void set(@Nullable Principal principal) {
    this.principal = principal;
  }

  /** Returns the principal, as a guard asks for it. */
  @Override
  public @Nullable Principal get() {
    return principal;
  }
}
