package io.github.sealwax.mcp.internal.ledger;

import io.github.sealwax.InternalErrorException;
import io.github.sealwax.internal.Frame;
import io.github.sealwax.internal.Library;
import io.github.sealwax.internal.Machine;
import io.github.sealwax.internal.Text;
import io.github.sealwax.mcp.LedgerException;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What the core knows of a server, and says to send it. */
public final class Store implements AutoCloseable {
  private volatile Machine known = begun();

  private static Machine begun() {
    return Machine.begin(Library.shared(), new Frame(Frame.STORE, Frame.WAITS)).machine();
  }

  /** Begins what is said for a command, or to check a server. */
  public Talk begin(Map<String, Object> about) {
    byte[] written = Text.bytes("command", Json.write(about));
    try {
      Machine.Begun begun = known.begin(new Frame(Frame.STORE_MACHINE, written));
      return new Talk(begun.machine(), Step.read(begun.answer().text()));
    } catch (InternalErrorException e) {
      // A fault ended what was known of the server: it is checked again.
      known = begun();
      throw e;
    }
  }

  /** What is to be said next. */
  public record Talk(Machine machine, Step next) {
    /** Sends what the core says, and returns its last word. */
    public CompletableFuture<Step> on(RedisConnection connection) {
      return on(connection, null, null);
    }

    /**
     * Does so on a connection that other commands use too. {@code answered} is the answer to the
     * first; {@code alone} sends what takes a connection of its own, and all that follows.
     */
    public CompletableFuture<Step> on(
        RedisConnection connection,
        @Nullable Map<String, Object> answered,
        @Nullable Function<Talk, CompletableFuture<Step>> alone) {
      if (alone != null && Boolean.TRUE.equals(next.members().get("own"))) {
        return alone.apply(this);
      }
      if (!next.has("send")) {
        machine.close();
        return ended();
      }
      CompletableFuture<Map<String, Object>> answer =
          answered == null
              ? connection.send(next.list("send"))
              : CompletableFuture.completedFuture(answered);
      return answer.thenCompose(told -> after(told).on(connection, null, alone));
    }

    private Talk after(Map<String, Object> answer) {
      String said = machine.on(new Frame(Frame.EVENT, Json.bytes(answer))).text();
      return new Talk(machine, Step.read(said));
    }

    private CompletableFuture<Step> ended() {
      for (String name : List.of("unfit", "failed")) {
        if (next.has(name)) {
          return CompletableFuture.failedFuture(new LedgerException(next.text(name)));
        }
      }
      return CompletableFuture.completedFuture(next);
    }
  }

  @Override
  public void close() {
    known.close();
  }
}
