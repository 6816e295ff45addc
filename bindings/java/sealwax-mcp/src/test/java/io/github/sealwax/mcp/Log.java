package io.github.sealwax.mcp;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.ILoggerFactory;
import org.slf4j.event.EventRecordingLogger;
import org.slf4j.event.SubstituteLoggingEvent;
import org.slf4j.helpers.NOPLogger;
import org.slf4j.helpers.NOP_FallbackServiceProvider;
import org.slf4j.helpers.SubstituteLogger;

/** SLF4J in the tests: keeps what the guard logs, and fails if it is told to. */
public final class Log extends NOP_FallbackServiceProvider {
  /** What was logged; tests run one after the other. */
  static final List<String> LINES = new CopyOnWriteArrayList<>();

  /** What the next line throws. */
  static volatile Throwable failure;

  private static final Queue<SubstituteLoggingEvent> EVENTS = new Events();

  @Override
  public ILoggerFactory getLoggerFactory() {
    return name ->
        name.startsWith("sealwax")
            ? new EventRecordingLogger(new SubstituteLogger(name, EVENTS, true), EVENTS)
            : NOPLogger.NOP_LOGGER;
  }

  @SuppressWarnings("unchecked")
  static <E extends Throwable> void sneakily(Throwable thrown) throws E {
    throw (E) thrown;
  }

  private static final class Events extends ConcurrentLinkedQueue<SubstituteLoggingEvent> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean add(SubstituteLoggingEvent event) {
      Throwable thrown = failure;
      if (thrown != null) {
        failure = null;
        sneakily(thrown);
      }
      Throwable cause = event.getThrowable();
      String line = event.getLevel() + " " + event.getMessage();
      return LINES.add(line + (cause == null ? "" : " " + cause));
    }
  }
}
