package io.github.sealwax.mcp.internal;

import io.github.sealwax.Code;
import io.github.sealwax.Principal;
import io.github.sealwax.SealwaxException;
import io.github.sealwax.mcp.Refusal;
import io.github.sealwax.mcp.TokenEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.helpers.NOPLogger;
import org.slf4j.spi.LoggingEventAware;
import org.slf4j.spi.LoggingEventBuilder;

/** Tells the author of refusals and events, and writes the log of refusals. */
public final class Hooks {
  private static final Logger LOGGER = LoggerFactory.getLogger("sealwax.mcp");
  private static final Map<String, Object> SESSION = Map.of("kind", "session");

  private final @Nullable Consumer<? super Refusal> onRefused;
  private final @Nullable Consumer<? super TokenEvent> onEvent;
  private final Engine engine;

  Hooks(
      @Nullable Consumer<? super Refusal> onRefused,
      @Nullable Consumer<? super TokenEvent> onEvent,
      Engine engine) {
    this.onRefused = onRefused;
    this.onEvent = onEvent;
    this.engine = engine;
  }

  /** Reports a mistake that the engine did not see. */
  public void reportMistake(String message) {
    report(Code.INVALID_ARGUMENT, message, SESSION);
  }

  /** Reports that the engine failed. */
  public void reportFailure(SealwaxException failure) {
    report(failure.code(), failure.getMessage(), SESSION);
  }

  /** Reports what this side found; {@code about} says at what. */
  public void report(Code code, @Nullable String message, Map<String, Object> about) {
    refused(entry(code, message, about));
  }

  void refused(Map<String, Object> entry) {
    log(entry);
    if (onRefused != null) {
      call("onRefused", onRefused, refusal(entry));
    }
  }

  void happened(Map<String, Object> event, Duration took) {
    if (onEvent != null) {
      call("onEvent", onEvent, tokenEvent(event, took));
    }
  }

  private <T> void call(String name, Consumer<? super T> hook, T told) {
    try {
      hook.accept(told);
    } catch (Throwable e) {
      String expected =
          name + ": expected a function that does not throw, found " + Failures.named(e);
      log(entry(Code.INVALID_ARGUMENT, expected, SESSION));
    }
  }

  private Map<String, Object> entry(
      Code code, @Nullable String message, Map<String, Object> about) {
    Map<String, Object> fault = new HashMap<>(about);
    fault.put("code", code.toString());
    fault.put("message", message);
    try {
      return engine.report(fault);
    } catch (SealwaxException e) {
      // Who reports has an answer to give: what it threw, the client would be told.
      String expected = "expected an entry for the log, found " + e.code();
      String line = "sealwax: %s kind=%s message=\"%s\"";
      // What the engine did not look at may be a client's.
      fault.keySet().retainAll(Set.of("code", "kind"));
      fault.put("message", expected);
      fault.put("level", "error");
      fault.put("time", Instant.now().toString());
      fault.put("line", line.formatted(code, about.get("kind"), expected));
      return fault;
    }
  }

  private static void log(Map<String, Object> entry) {
    try {
      if (!(LOGGER instanceof NOPLogger)) {
        logged(entry);
        return;
      }
    } catch (Throwable e) {
      // It is written below.
    }
    // No provider of logs was set up, or it failed: a refusal must not get lost.
    System.err.println(entry.get("time") + " " + level(entry) + " " + entry.get("line"));
  }

  private static Level level(Map<String, Object> entry) {
    return isError(entry) ? Level.ERROR : Level.WARN;
  }

  private static void logged(Map<String, Object> entry) {
    LoggingEventBuilder event = LOGGER.atLevel(level(entry));
    if (LOGGER instanceof LoggingEventAware) {
      // Other loggers would write the members into the line, which has them.
      for (Map.Entry<String, Object> member : entry.entrySet()) {
        if (!member.getKey().equals("line")) {
          event = event.addKeyValue("sealwax." + member.getKey(), member.getValue());
        }
      }
    }
    event.log((String) entry.get("line"));
  }

  private static boolean isError(Map<String, Object> entry) {
    return "error".equals(entry.get("level"));
  }

  private static Refusal refusal(Map<String, Object> entry) {
    return new Refusal(
        (String) entry.get("code"),
        (String) entry.get("kind"),
        (String) entry.get("message"),
        isError(entry),
        Instant.parse((String) entry.get("time")),
        (String) entry.get("id"),
        principal(entry),
        (String) entry.get("method"),
        Boolean.TRUE.equals(entry.get("customMethod")),
        (String) entry.get("target"));
  }

  private static TokenEvent tokenEvent(Map<String, Object> event, Duration took) {
    Object age = event.get("age");
    return new TokenEvent(
        (String) event.get("event"),
        (String) event.get("kind"),
        took,
        (String) event.get("keyId"),
        (String) event.get("id"),
        age == null ? null : Duration.ofSeconds(((Number) age).longValue()),
        principal(event),
        (String) event.get("method"),
        Boolean.TRUE.equals(event.get("customMethod")),
        (String) event.get("target"));
  }

  /** Returns a principal by its parts; null for none, and for nobody in particular. */
  public static @Nullable Principal principal(Map<String, Object> told) {
    String issuer = (String) told.get("issuer");
    String client = (String) told.get("client");
    String subject = (String) told.get("subject");
    return issuer == null && client == null && subject == null
        ? null
        : Principal.of(issuer, client, subject);
  }
}
