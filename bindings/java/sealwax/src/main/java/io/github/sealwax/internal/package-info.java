/**
 * The C ABI in Java: its functions, the instances in which they run, and the objects that live in
 * these. For the other packages of Sealwax alone.
 *
 * <p>An {@link io.github.sealwax.internal.Instance} is one address space with the functions of
 * {@code sealwax.h}: an instance of the portable module, or the C library. One thread at a time
 * uses it: a pooled instance is an instance and a lock, held for one {@link
 * io.github.sealwax.internal.Call}. There are as many pooled instances as processors, each made
 * when all others are busy.
 *
 * <p>What a call writes for a call lies in the pooled instance's scratch memory, which is wiped
 * when the call ends. An object of the ABI lives {@linkplain io.github.sealwax.internal.Replicated
 * in every pooled instance} that needs it, or {@linkplain io.github.sealwax.internal.Pinned in
 * exactly one}. If a fault ends an instance, its pooled instance makes another for the next call:
 * replicated objects are made again, pinned ones are lost, and fail with {@code internal_error}.
 *
 * <p>A guard and an exchange, for example:
 *
 * <pre>{@code
 * CodecObject codec = Access.codec(publicCodec);
 * Library library = codec.library();
 * Frame settings = new Frame(Frame.GUARD, document);
 * Replicated guard =
 *     new Replicated(
 *         library,
 *         x -> x.readWord(Machine.make(x, codec.in(x), 0, settings)),
 *         Function.MACHINE_FREE);
 *
 * Frame message = new Frame(Frame.MESSAGE, Frame.MODERN, method, target, arguments);
 * Machine.Begun begun =
 *     guard.call((x, address) -> Machine.begin(library, x, address, message));
 * begun.answer(); // its first step
 * begun.machine().on(new Frame(Frame.EVENT, event)); // its next one, in its pooled instance
 * begun.machine().close();
 * }</pre>
 *
 * <p>The bodies of calls are short: they copy, call and copy. They do not call again and do not
 * wait, because they hold the lock of a pooled instance.
 */
@NullMarked
package io.github.sealwax.internal;

import org.jspecify.annotations.NullMarked;
