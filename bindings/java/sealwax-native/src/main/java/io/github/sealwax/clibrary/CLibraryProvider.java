package io.github.sealwax.clibrary;

import io.github.sealwax.internal.Instance;
import io.github.sealwax.internal.InstanceProvider;

/**
 * Takes the place of the portable module where this artifact is on the class path or the module
 * path.
 */
public final class CLibraryProvider implements InstanceProvider {
  /** For {@link java.util.ServiceLoader}. */
  public CLibraryProvider() {}

  /**
   * Returns the C library for one thread at a time. It has one address space for all, and no state
   * of its own.
   *
   * @throws UnsatisfiedLinkError if it is not found, or has not the functions that this version
   *     needs
   */
  @Override
  public Instance instantiate() {
    return CLibrary.SHARED;
  }
}
