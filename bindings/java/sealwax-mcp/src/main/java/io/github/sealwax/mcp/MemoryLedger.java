package io.github.sealwax.mcp;

import io.github.sealwax.InternalErrorException;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.internal.Durations;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Machine;
import io.github.sealwax.internal.Text;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A ledger in the memory of this process: neither shared with replicas nor kept on restart.
 *
 * <p>It never drops a live record: when it is full it refuses new ones, and one principal fills at
 * most half.
 */
public final class MemoryLedger implements Ledger, AutoCloseable {
  private static final long CAPACITY = 64 << 20;

  private final long capacity;
  private final Clock clock;
  private Machine memory;

  /** Makes one of 64 MiB. */
  public MemoryLedger() {
    this(CAPACITY);
  }

  /**
   * Makes one.
   *
   * @param capacity about how many bytes it takes
   * @throws InvalidArgumentException if it is below 0, or more than the engine has room for
   */
  public MemoryLedger(long capacity) {
    this(capacity, Clock.systemUTC(), Duration.ZERO);
  }

  /**
   * Makes one for tests of an application, on the clock of its codec.
   *
   * @param clock such as a {@code io.github.sealwax.testing.TestClock}
   * @param since for how long it has remembered
   */
  public MemoryLedger(Clock clock, Duration since) {
    this(CAPACITY, clock, since);
  }

  private MemoryLedger(long capacity, Clock clock, Duration since) {
    if (capacity < 0) {
      throw new InvalidArgumentException("capacity: expected 0 bytes or more, found " + capacity);
    }
    this.capacity = capacity;
    this.clock = clock;
    memory = begun(Math.max(0, now() - Durations.seconds("since", since)));
  }

  private long now() {
    return clock.instant().getEpochSecond();
  }

  private Machine begun(long from) {
    Frame frame = new Frame(Frame.MEMORY, Text.decimal(capacity), Text.decimal(from));
    return Machine.begin(Library.shared(), frame).machine();
  }

  @Override
  public boolean isLocal() {
    return true;
  }

  @Override
  public synchronized CompletionStage<List<String>> run(Command command) {
    byte[] written = Text.bytes("command", Json.write(command.document()));
    try {
      String reply = memory.on(new Frame(Frame.RUN, written, Text.decimal(now()))).text();
      Step read = Step.read("{\"reply\":" + reply + "}");
      return CompletableFuture.completedFuture(read.list("reply"));
    } catch (RuntimeException e) {
      if (e instanceof InternalErrorException) {
        // A fault ended it. The next one knows nothing of what was used until now.
        memory = begun(now() + 2);
      }
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Frees its memory. */
  @Override
  public synchronized void close() {
    memory.close();
  }
}
