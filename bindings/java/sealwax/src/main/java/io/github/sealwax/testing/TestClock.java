package io.github.sealwax.testing;

import io.github.sealwax.internal.Function;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Replicated;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until it is set or advanced. */
public final class TestClock extends Clock {
  private final AtomicLong milliseconds;

  /** The clock of the ABI, which codecs read. */
  final Replicated replicated;

  /** Makes a clock that stands at the present time. */
  public TestClock() {
    this(Instant.now());
  }

  /** Makes a clock that stands at a time, in milliseconds. */
  public TestClock(Instant now) {
    AtomicLong standing = new AtomicLong(millisecondsOf(now));
    milliseconds = standing;
    replicated =
        new Replicated(
            Library.shared(),
            x -> {
              long place = x.room(x.pointerSize());
              x.call(Function.TEST_CLOCK_NEW, standing.get(), place);
              return x.readWord(place);
            },
            Function.TEST_CLOCK_FREE);
  }

  /** A time before 1970 is 1970, as the system's is. */
  private static long millisecondsOf(Instant time) {
    return Math.max(0, time.toEpochMilli());
  }

  /** Sets the time, for every codec on it; backwards too. */
  public void set(Instant now) {
    milliseconds.set(millisecondsOf(now));
    replicated.crossAll(
        (x, clock) -> {
          x.call(Function.TEST_CLOCK_SET, clock, milliseconds.get());
          return null;
        });
  }

  /** Lets time pass. */
  public void advance(Duration time) {
    set(instant().plus(time));
  }

  @Override
  public Instant instant() {
    return Instant.ofEpochMilli(milliseconds.get());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return Clock.fixed(instant(), zone);
  }

  @Override
  public String toString() {
    return "TestClock at " + instant();
  }
}
