package io.github.sealwax.mcp;

import io.github.sealwax.SealwaxException;
import io.github.sealwax.internal.Durations;
import io.github.sealwax.mcp.internal.Engine;
import io.github.sealwax.mcp.internal.Failures;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.transport.HttpExchange;
import io.github.sealwax.mcp.internal.transport.Passed;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpTransportContextExtractor;
import io.modelcontextprotocol.spec.HttpHeaders;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Gives the clients of a stateless server their sessions: put it in front of the server's
 * transport, inside of the authentication.
 *
 * <p>The answer to {@code initialize} has a header {@code Mcp-Session-Id}: a token that holds the
 * negotiated session. Later requests are verified before the server sees them. A request without
 * the header gets 400, whatever revision it names: the SDK speaks no later one. One whose session
 * is refused gets 404. {@code DELETE} ends a session, if the guard has a ledger.
 */
@SuppressWarnings("exports") // Its users require Servlet themselves.
public final class SealwaxFilter implements Filter {
  private final GuardCore guard;
  private final Engine engine;
  private final McpTransportContextExtractor<? super HttpServletRequest> extractor;
  private final int maxBodySize;

  private SealwaxFilter(Builder builder) {
    guard = builder.guard;
    extractor = builder.extractor;
    maxBodySize = builder.maxBodySize;
    engine = guard.engineFor(builder.settings);
  }

  /**
   * Begins a filter.
   *
   * @param guard the guard of the server
   * @return what the filter is to be
   */
  public static Builder builder(Guard guard) {
    return new Builder(guard);
  }

  /**
   * Returns the {@code contextExtractor} for the transport of a server behind a filter.
   *
   * @param extractor what the author gives to handlers, and to the guard's principal function
   * @return it, and what the filter leaves for the guard
   */
  public static McpTransportContextExtractor<HttpServletRequest> extractor(
      McpTransportContextExtractor<? super HttpServletRequest> extractor) {
    return request -> {
      McpTransportContext context = extractor.extract(request);
      Object outer = request.getAttribute(Passed.KEY);
      // Several headers are joined, which never equals the id of the message.
      String header =
          String.join(",", Collections.list(request.getHeaders(HttpHeaders.MCP_SESSION_ID)));
      return key ->
          switch (key) {
            case Passed.KEY -> outer;
            case Passed.HEADER -> header.isEmpty() ? null : header;
            default -> context.get(key);
          };
    };
  }

  @Override
  public void doFilter(
      ServletRequest servletRequest, ServletResponse servletResponse, FilterChain chain)
      throws IOException, ServletException {
    HttpServletRequest request = (HttpServletRequest) servletRequest;
    HttpServletResponse response = (HttpServletResponse) servletResponse;
    McpTransportContext context;
    try {
      context = extractor.extract(request);
    } catch (Throwable e) {
      String expected = "contextExtractor: expected a function that gives a context, found ";
      guard.hooks().reportMistake(expected + Failures.named(e));
      response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
      return;
    }
    try {
      new HttpExchange(guard, engine, context, request, response).serve(chain, maxBodySize);
    } catch (SealwaxException e) {
      // A container may show it to the client.
      guard.hooks().reportFailure(e);
      response.reset();
      response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
    }
  }

  /** What a filter is to be. */
  public static final class Builder {
    private final GuardCore guard;
    private final Map<String, Object> settings = new LinkedHashMap<>();
    private McpTransportContextExtractor<? super HttpServletRequest> extractor =
        request -> McpTransportContext.EMPTY;
    private int maxBodySize = 4 << 20;

    private Builder(Guard guard) {
      this.guard = guard.core();
      // The SDK speaks no revision without sessions of the transport.
      settings.put("modern", false);
    }

    /**
     * Sets what fills the context for the guard's principal function, the same as for the
     * transport.
     *
     * @param extractor the author's own, as it is given to {@link SealwaxFilter#extractor}
     * @return this builder
     */
    public Builder contextExtractor(
        McpTransportContextExtractor<? super HttpServletRequest> extractor) {
      this.extractor =
          Objects.requireNonNull(extractor, "contextExtractor: expected a function, found none");
      return this;
    }

    /**
     * Lets requests without a session pass.
     *
     * @return this builder
     */
    public Builder optional() {
      settings.put("required", false);
      return this;
    }

    /**
     * Sets how long a session lives: 30 days by default.
     *
     * @param ttl at least a second
     * @return this builder
     */
    public Builder ttl(Duration ttl) {
      settings.put("ttl", Durations.seconds("ttl", ttl));
      return this;
    }

    /**
     * Sets after which time without a request a session ends, which needs a ledger.
     *
     * @param idle at least a second
     * @return this builder
     */
    public Builder idle(Duration idle) {
      settings.put("idle", Durations.seconds("idle", idle));
      return this;
    }

    /**
     * Serves a request whose session is lost as one without a session, and says so in the log: the
     * session has expired, its key was retired, or it is of another audience. For clients that
     * begin no session after a 404. Another user's session, and one that was ended, are refused
     * always.
     *
     * @return this builder
     */
    public Builder serveLost() {
      settings.put("onLost", "serve");
      return this;
    }

    /**
     * Lets messages carry the session too, for clients of SEP-1359. As it specifies, a session that
     * another principal presents ends, if the guard has a ledger: a thief of the token can end the
     * session.
     *
     * @return this builder
     */
    public Builder sep1359() {
      settings.put("sep1359", true);
      return this;
    }

    /**
     * Sets the largest body of a request: 4 MiB by default.
     *
     * @param bytes its size
     * @return this builder
     */
    public Builder maxBodySize(int bytes) {
      maxBodySize = bytes;
      return this;
    }

    /**
     * Makes the filter.
     *
     * @return the filter, which any number of requests may use
     */
    public SealwaxFilter build() {
      return new SealwaxFilter(this);
    }
  }
}
