/** Runs Sealwax on its C library, by the foreign-function API, in place of the portable module. */
module io.github.sealwax.clibrary {
  requires io.github.sealwax;
  requires static org.jspecify;

  provides io.github.sealwax.internal.InstanceProvider with
      io.github.sealwax.clibrary.CLibraryProvider;
}
