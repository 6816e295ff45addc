package io.github.sealwax.internal;

/**
 * Makes instances. One on the class path or the module path, found by {@link
 * java.util.ServiceLoader}, takes the place of the portable module.
 */
public interface InstanceProvider {
  /** Makes an instance. */
  Instance instantiate();
}
