/**
 * Seals the state that an MCP (Model Context Protocol) server hands to its clients.
 *
 * <p>A {@link io.github.sealwax.Codec} holds the keys and the name of a service. Its {@linkplain
 * io.github.sealwax.Codec#view view} is for one authenticated principal, and gives a {@link
 * io.github.sealwax.Sealer} for each kind of token, {@link io.github.sealwax.Sessions}, and session
 * ids and handles. A {@link io.github.sealwax.SealwaxException} is for the server's log; {@link
 * io.github.sealwax.Answer} gives the client's answer.
 *
 * <p>Any number of threads, virtual ones too, may use any object of this package at once.
 */
@NullMarked
package io.github.sealwax;

import org.jspecify.annotations.NullMarked;
