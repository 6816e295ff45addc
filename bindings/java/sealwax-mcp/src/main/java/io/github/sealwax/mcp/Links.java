package io.github.sealwax.mcp;

import io.github.sealwax.InvalidArgumentException;
import io.github.sealwax.Principal;
import io.github.sealwax.internal.Durations;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Links of one name: texts that are safe in a URL, sealed in a handler, and opened by whoever has
 * them, at a route of any web framework and at any replica.
 *
 * <p>With a ledger these methods may wait for it, no longer than the guard's time limit.
 *
 * @param <T> the type of the value
 */
public final class Links<T> {
  private final Guard guard;
  private final TypeRef<T> type;
  private final Map<String, Object> settings;

  Links(Guard guard, TypeRef<T> type, Map<String, Object> settings) {
    this.guard = guard;
    this.type = type;
    this.settings = settings;
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
    return new Links<>(guard, type, SelfContainedHandles.with(settings, name, value));
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
    Map<String, Object> operation = SelfContainedHandles.with(settings, "op", "sealLink");
    return Served.of(guard, context).handle(operation, Json.write(value)).text("handle");
  }

  /**
   * Opens what came; one that is good {@link #once} is used up.
   *
   * @param link what the browser sent, of whatever type
   * @return what it holds
   * @throws LinkRefused for any that is not valid
   */
  public OpenedLink<T> open(@Nullable Object link) {
    return opened(link, false);
  }

  /**
   * Opens what came, and leaves it good: for a GET, since mail programs and chats fetch links to
   * preview them.
   *
   * @param link what the browser sent, of whatever type
   * @return what it holds
   * @throws LinkRefused for any that is not valid
   */
  public OpenedLink<T> preview(@Nullable Object link) {
    return opened(link, true);
  }

  private OpenedLink<T> opened(@Nullable Object link, boolean keep) {
    Map<String, Object> operation = SelfContainedHandles.with(settings, "op", "openLink");
    operation.put("handle", link == null ? true : Json.clientValue(link));
    operation.put("keep", keep);
    Step step = new Caller(guard, null).finish(guard.engine().link(operation));
    if (!step.is("done")) {
      throw new LinkRefused(step);
    }
    Principal owner = Hooks.principal(step.object("principal"));
    return new OpenedLink<>(
        Json.value(step.text("value"), type),
        owner == null ? Principal.anonymous() : owner,
        step.text("id"));
  }
}
