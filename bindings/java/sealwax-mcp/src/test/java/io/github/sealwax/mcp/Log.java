package io.github.sealwax.mcp;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.ILoggerFactory;
import org.slf4j.Marker;
import org.slf4j.event.Level;
import org.slf4j.helpers.LegacyAbstractLogger;
import org.slf4j.helpers.NOP_FallbackServiceProvider;

/** SLF4J in the tests: keeps what the guard logs, and fails if it is told to. */
public final class Log extends NOP_FallbackServiceProvider {
  /** What was logged; tests run one after the other. */
  static final List<String> LINES = new CopyOnWriteArrayList<>();

  /** What the next line throws. */
  static volatile Throwable failure;

  @Override
  public ILoggerFactory getLoggerFactory() {
    return Writer::new;
  }

  @SuppressWarnings("unchecked")
  static <E extends Throwable> void sneakily(Throwable thrown) throws E {
    throw (E) thrown;
  }

  private static final class Writer extends LegacyAbstractLogger {
    private static final long serialVersionUID = 1L;

    Writer(String name) {
      this.name = name;
    }

    private boolean isOurs() {
      return name.startsWith("sealwax");
    }

    @Override
    protected void handleNormalizedLoggingCall(
        Level level, Marker marker, String line, Object[] arguments, Throwable cause) {
      Throwable thrown = failure;
      if (thrown != null) {
        failure = null;
        sneakily(thrown);
      }
      LINES.add(level + " " + line + (cause == null ? "" : " " + cause));
    }

    @Override
    protected String getFullyQualifiedCallerName() {
      return null;
    }

    @Override
    public boolean isTraceEnabled() {
      return false;
    }

    @Override
    public boolean isDebugEnabled() {
      return false;
    }

    @Override
    public boolean isInfoEnabled() {
      return false;
    }

    @Override
    public boolean isWarnEnabled() {
      return isOurs();
    }

    @Override
    public boolean isErrorEnabled() {
      return isOurs();
    }
  }
}
