package io.github.sealwax.mcp;

import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.handler.Exchange;
import io.github.sealwax.mcp.internal.handler.SessionCore;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.TypeRef;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The data-layer sessions of a guard: one JSON value each, which the client keeps and only the
 * server reads.
 *
 * <p>Clients create them with {@code sessions/create}, and delete them with {@code sessions/delete}
 * if the guard has a ledger to record it. A request whose session is not valid is refused, also if
 * its handler does not use the session. Lists never depend on a session: the handler of a list gets
 * none.
 *
 * @param <T> the type of the value
 */
public final class Sessions<T> {
  private final GuardCore guard;
  private final TypeRef<T> type;

  Sessions(GuardCore guard, TypeRef<T> type) {
    this.guard = guard;
    this.type = type;
  }

  /**
   * Returns the session of a request.
   *
   * @param context the handler's
   * @return the session; null if the request has none
   */
  public @Nullable Session<T> of(McpTransportContext context) {
    SessionCore session = Exchange.of(guard, context).session();
    return session == null ? null : new Session<>(session, type);
  }

  /**
   * What a guard's sessions are to be.
   *
   * @param <T> the type of the value
   */
  public static final class Settings<T> {
    final TypeRef<T> type;
    final Map<String, Object> members = new LinkedHashMap<>();
    @Nullable Function<McpTransportContext, String> initial;

    private Settings(TypeRef<T> type) {
      this.type = type;
    }

    /**
     * Begins the settings of sessions whose value the client holds, sealed.
     *
     * @param type the type of the value
     * @param initial gives the first value of a session, for the context of the request that
     *     creates it
     * @param <T> the type of the value
     * @return the settings
     */
    public static <T> Settings<T> of(
        Class<T> type, Function<? super McpTransportContext, ? extends T> initial) {
      return of(Json.type(type), initial);
    }

    /**
     * Begins the settings of sessions whose value the client holds, sealed.
     *
     * @param type the type of the value
     * @param initial gives the first value of a session, for the context of the request that
     *     creates it
     * @param <T> the type of the value
     * @return the settings
     */
    public static <T> Settings<T> of(
        TypeRef<T> type, Function<? super McpTransportContext, ? extends T> initial) {
      Objects.requireNonNull(initial, "initial: expected a function, found none");
      Settings<T> settings = new Settings<>(type);
      settings.initial = context -> Json.write(initial.apply(context));
      return settings;
    }

    /**
     * Begins the settings of sessions of which the client has the id alone, and the server keeps
     * the value, by ulid.
     *
     * @return the settings
     */
    public static Settings<Void> heldByServer() {
      Settings<Void> settings = new Settings<>(Json.type(Void.class));
      settings.members.put("heldByServer", true);
      return settings;
    }

    /**
     * Sets after which time without a write a session ends: 24 hours by default.
     *
     * @param ttl at least a second
     * @return these settings
     */
    public Settings<T> ttl(Duration ttl) {
      members.put("ttl", Durations.seconds("ttl", ttl));
      return this;
    }

    /**
     * Lets a session end only at the codec's largest age of a session.
     *
     * @return these settings
     */
    public Settings<T> noExpiry() {
      members.put("noExpiry", true);
      return this;
    }

    /**
     * Requires a session for all requests but {@code initialize}, {@code ping}, {@code
     * server/discover}, lists, and {@code sessions/create}.
     *
     * @return these settings
     */
    public Settings<T> required() {
      members.put("required", true);
      return this;
    }

    /**
     * Requires a session for some requests.
     *
     * @param methods names of methods
     * @param tools names of tools
     * @return these settings
     */
    public Settings<T> required(Collection<String> methods, Collection<String> tools) {
      members.put("required", Map.of("methods", List.copyOf(methods), "tools", List.copyOf(tools)));
      return this;
    }
  }
}
