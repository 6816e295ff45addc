package io.github.sealwax.mcp;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;

/**
 * Remembers which tokens were used or ended, and which state of a session is the latest. LEDGER.md
 * describes the records and the commands; the core makes all decisions.
 *
 * <p>{@link MemoryLedger} is for one process, {@link RedisLedger} for a fleet.
 */
public interface Ledger {
  /**
   * Runs a command in one atomic step and replies as LEDGER.md says. A failure refuses the request.
   *
   * <p>It must not block: it is called on the request's thread, and the guard's time limit holds
   * for the stage that it returns alone. One that blocks holds that thread for as long as it likes,
   * and its reply counts as none if it is late by then. Run what blocks on an executor of your own.
   *
   * @param command what to run
   * @return the reply, at once or later
   */
  CompletionStage<List<String>> run(Command command);

  /**
   * Returns whether the ledger has the guard's own clock.
   *
   * @return false, unless the ledger is of one machine
   */
  default boolean isLocal() {
    return false;
  }

  /**
   * A command for a ledger, all texts.
   *
   * @param script its name: open, admit, commit or revoke
   * @param keys the keys that it reads and writes
   * @param args its arguments
   * @param within how long the guard waits for the reply
   */
  record Command(String script, List<String> keys, List<String> args, Duration within) {
    Map<String, Object> document() {
      return Map.of("script", script, "keys", keys, "args", args, "withinMs", within.toMillis());
    }
  }
}
