/** A ledger's stores. */
@NullMarked
package io.github.sealwax.mcp.internal.ledger;

import org.jspecify.annotations.NullMarked;
