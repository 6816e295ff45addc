package io.github.sealwax.mcp;

import io.github.sealwax.Code;
import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Hooks;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Links of one name: texts that are safe in a URL, sealed in a handler, and opened by whoever has
 * them, at a route of any web framework and at any replica.
 *
 * <p>With a ledger these methods may wait for it, no longer than the guard's time limit; {@link
 * #open} twice.
 *
 * @param <T> the type of the value
 */
public final class Links<T> {
  private final Operations operations;
  private final TypeRef<T> type;

  Links(Operations operations, TypeRef<T> type) {
    this.operations = operations;
    this.type = type;
  }

  /**
   * Returns the same links, of another lifetime than 24 hours.
   *
   * @param ttl at least a second
   * @return the links
   */
  public Links<T> ttl(Duration ttl) {
    return with("ttl", Durations.seconds("ttl", ttl));
  }

  /**
   * Returns the same links, each good once, which needs a ledger.
   *
   * @return the links
   */
  public Links<T> once() {
    return with("once", true);
  }

  /**
   * Returns the same links, which nobody else can open: for an approval.
   *
   * @param principal the user who is signed in where they are opened
   * @return the links
   * @throws InvalidArgumentException for null: who is not signed in is not anybody
   */
  public Links<T> by(Principal principal) {
    if (principal == null) {
      throw new InvalidArgumentException("by: expected the user who is signed in, found none");
    }
    return with("by", Caller.document(principal));
  }

  private Links<T> with(String name, Object value) {
    return new Links<>(operations.with(name, value), type);
  }

  /**
   * Seals a value for the caller.
   *
   * @param context the handler's
   * @param value what JSON can hold
   * @return the text
   * @throws HandleRefused for a value over the codec's payload limit
   */
  public String seal(McpTransportContext context, T value) {
    return operations.run(context, "sealLink", Json.write(value)).text("handle");
  }

  /**
   * Opens what came; one that is good {@link #once} is used up, unless its value is of another type
   * than here. It asks the ledger twice, each time within the time limit.
   *
   * @param link what the browser sent, of whatever type
   * @return what it holds
   * @throws LinkRefused for any that is not valid, and for a value of another type
   */
  public OpenedLink<T> open(@Nullable Object link) {
    if (!operations.guard().hasLedger()) {
      // Nothing is ever used up.
      return preview(link);
    }
    OpenedLink<T> opened = opened(followed(link, true, false));
    followed(link, false, true);
    return opened;
  }

  /**
   * Opens what came, and leaves it good: for a GET, since mail programs and chats fetch links to
   * preview them.
   *
   * @param link what the browser sent, of whatever type
   * @return what it holds
   * @throws LinkRefused as {@link #open}
   */
  public OpenedLink<T> preview(@Nullable Object link) {
    return opened(followed(link, true, true));
  }

  /** Returns the step that is done; what opens counts as an event, if it {@code counts}. */
  private Step followed(@Nullable Object link, boolean keep, boolean counts) {
    Operations opening =
        operations.with("op", "openLink").of(link == null ? true : link).with("keep", keep);
    GuardCore guard = operations.guard();
    Step step = new Caller(guard, null, counts).finish(guard.engine().link(opening.members()));
    if (!step.is("done")) {
      throw new LinkRefused(step);
    }
    return step;
  }

  private OpenedLink<T> opened(Step done) {
    Principal owner = Hooks.principal(done.object("principal"));
    return new OpenedLink<>(
        value(done), owner == null ? Principal.anonymous() : owner, done.text("id"));
  }

  private T value(Step done) {
    try {
      return Json.value(done.text("value"), type);
    } catch (IllegalArgumentException e) {
      Map<String, Object> about = Map.of("kind", "link", "id", done.text("id"));
      operations.guard().hooks().report(Code.MALFORMED, e.getMessage(), about);
      throw LinkRefused.ofValue();
    }
  }
}
