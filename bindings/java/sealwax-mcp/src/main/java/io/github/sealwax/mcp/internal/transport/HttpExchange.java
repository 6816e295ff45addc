package io.github.sealwax.mcp.internal.transport;

import io.github.sealwax.mcp.internal.Caller;
import io.github.sealwax.mcp.internal.Engine;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.HttpHeaders;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;

/** One HTTP request on its way to the SDK, and its answer. */
public final class HttpExchange {
  private final GuardCore guard;
  private final HttpServletRequest request;
  private final HttpServletResponse response;
  private final Caller caller;
  private final Engine.Exchange exchange;
  private final Step first;

  public HttpExchange(
      GuardCore guard,
      Engine engine,
      McpTransportContext context,
      HttpServletRequest request,
      HttpServletResponse response) {
    this.guard = guard;
    this.request = request;
    this.response = response;
    this.caller = new Caller(guard, context);
    Engine.Begun begun =
        engine.http(
            request.getMethod(),
            Collections.list(request.getHeaders(HttpHeaders.PROTOCOL_VERSION)),
            Collections.list(request.getHeaders(HttpHeaders.MCP_SESSION_ID)),
            Collections.list(request.getHeaders("Content-Encoding")));
    exchange = begun.exchange();
    first = begun.step();
  }

  /** Serves the request by the rest of a chain. */
  public void serve(FilterChain chain, int maxBodySize) throws IOException, ServletException {
    try {
      pass(chain, maxBodySize);
    } finally {
      exchange.close();
      // An asynchronous server asks for the caller later.
      if (!request.isAsyncStarted()) {
        caller.close();
      }
    }
  }

  private void pass(FilterChain chain, int maxBodySize) throws IOException, ServletException {
    Step step = entered(maxBodySize);
    if (!step.is("deliver")) {
      reply(step);
      return;
    }
    HttpServletRequest replayed = new ReplayedRequest(request, step.bytes(), step.text("version"));
    boolean begins = step.has("report");
    if (begins || caller.known() != null) {
      request.setAttribute(Passed.KEY, Passed.of(guard, caller, step));
    }
    if (!begins && !step.has("addSessionId")) {
      chain.doFilter(replayed, response);
      return;
    }
    HeldResponse held = new HeldResponse(response);
    chain.doFilter(replayed, held);
    if (request.isAsyncStarted()) {
      throw new ServletException(
          "expected a stateless server, which answers at once, found an asynchronous one");
    }
    leave(held);
  }

  /** Returns the engine's decision on the request; it delivers with the bytes that it read. */
  private Step entered(int maxBodySize) throws IOException {
    Step step = caller.drive(exchange, first);
    if (!step.asksBody()) {
      return step;
    }
    InputStream stream = request.getInputStream();
    byte[] body = stream.readNBytes(maxBodySize);
    boolean fits = body.length < maxBodySize || stream.read() < 0;
    step = caller.drive(exchange, exchange.body(fits ? body : null));
    return step.is("deliver") && step.bytes() == null ? new Step(step.members(), body) : step;
  }

  /** Sends what the engine makes of the server's answer. */
  private void leave(HeldResponse held) throws IOException {
    boolean changes =
        exchange.answer(
            held.getStatus(), held.getContentType(), held.getHeader(HttpHeaders.MCP_SESSION_ID));
    if (!changes) {
      held.release(held.body());
      return;
    }
    Step step = caller.drive(exchange, exchange.answered(held.body()));
    if (step.is("respond")) {
      step.object("headers").forEach((name, value) -> response.setHeader(name, (String) value));
      held.release(step.bytes());
    } else {
      response.reset();
      reply(step);
    }
  }

  private void reply(Step step) throws IOException {
    response.setStatus(step.number("status").intValue());
    if (step.has("allow")) {
      response.setHeader("Allow", step.text("allow"));
    }
    if (step.bytes() != null) {
      response.setContentType("application/json");
      response.getOutputStream().write(step.bytes());
    }
  }
}
