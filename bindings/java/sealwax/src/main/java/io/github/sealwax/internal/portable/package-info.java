/**
 * The portable module, which Endive compiles to class files when Sealwax is built, and what it
 * imports.
 */
@NullMarked
package io.github.sealwax.internal.portable;

import org.jspecify.annotations.NullMarked;
