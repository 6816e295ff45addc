/**
 * Help for tests of an application: a clock and a principal to set, and a codec. The clock is that
 * of the codecs that are made with it: no other code sees its time.
 *
 * <pre>{@code
 * TestClock clock = new TestClock();
 * Codec codec = TestCodec.of(clock);
 * String token = codec.view(Principal.subject("alice")).cursor("tools/list").seal(page);
 * clock.advance(Duration.ofHours(24));
 * // Opening it is refused now: expired.
 * }</pre>
 */
@NullMarked
package io.github.sealwax.testing;

import org.jspecify.annotations.NullMarked;
