package io.github.sealwax.internal.portable;

import io.github.sealwax.internal.Instance;
import io.github.sealwax.internal.InstanceProvider;

/** Makes instances of the portable module. */
public final class PortableProvider implements InstanceProvider {
  private final Environment environment;

  /** Makes instances with the system's clock and randomness. */
  public PortableProvider() {
    this(Environment.SYSTEM);
  }

  /** Makes instances in another environment. */
  public PortableProvider(Environment environment) {
    this.environment = environment;
  }

  @Override
  public Instance instantiate() {
    return new PortableInstance(environment);
  }
}
