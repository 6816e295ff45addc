/** The C library as an instance of Sealwax. */
@NullMarked
package io.github.sealwax.clibrary;

import org.jspecify.annotations.NullMarked;
