package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.Answer;
import io.github.sealwax.Profile;
import io.github.sealwax.SealwaxException;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A handler whose messages are guarded: opens what comes in for it, and seals what it returns.
 *
 * @param next the server's own, in the context that it is given
 * @param questions with which the user of a request can be asked while it waits
 */
record GuardedHandler(
    GuardCore guard, McpStatelessServerHandler next, @Nullable Questions questions)
    implements McpStatelessServerHandler {
  @Override
  public Mono<JSONRPCResponse> handleRequest(McpTransportContext context, JSONRPCRequest request) {
    return Mono.using(
        () -> new Exchange(guard, context, request.method(), request.params(), false, questions),
        served ->
            maySwitch(served::enter)
                .flatMap(step -> asking(served, step))
                .flatMap(step -> serve(served, step, request))
                .onErrorResume(
                    SealwaxException.class,
                    failure -> Mono.just(failed(request.id(), failure, served))),
        Exchange::close);
  }

  /** The SDK would tell the client why. */
  private JSONRPCResponse failed(Object id, SealwaxException failure, Exchange served) {
    if (!served.isReported(failure)) {
      guard.hooks().reportFailure(failure);
    } else if (served.isTool()) {
      Object text = Map.of("type", "text", "text", String.valueOf(failure.getMessage()));
      return JSONRPCResponse.result(id, Map.of("content", List.of(text), "isError", true));
    }
    // The engine refuses by a step. Whatever it throws, the client had no part in it.
    Throwable any = new IllegalStateException(failure);
    return JSONRPCResponse.error(id, Step.read(Answer.of(Profile.DATA_LAYER, any)).error());
  }

  @Override
  public Mono<Void> handleNotification(
      McpTransportContext context, JSONRPCNotification notification) {
    return Mono.using(
        () ->
            new Exchange(guard, context, notification.method(), notification.params(), true, null),
        served ->
            maySwitch(served::enter)
                .filter(step -> step.is("deliver"))
                .flatMap(
                    step -> {
                      served.delivered(step);
                      return in(served, next.handleNotification(served.context(), notification));
                    })
                .onErrorResume(
                    SealwaxException.class,
                    failure -> {
                      guard.hooks().reportFailure(failure);
                      return Mono.empty();
                    }),
        Exchange::close);
  }

  /** Asks others, if the engine wants to. What reads the client's answer waits for nothing. */
  private Mono<Step> asking(Exchange served, Step step) {
    if (!step.asksOthers()) {
      return Mono.just(step);
    }
    return served
        .asked(step, next)
        .publishOn(Schedulers.boundedElastic())
        .map(served::told)
        .flatMap(more -> asking(served, more));
  }

  private Mono<JSONRPCResponse> serve(Exchange served, Step step, JSONRPCRequest request) {
    if (!step.is("deliver")) {
      return Mono.just(replied(request.id(), step));
    }
    served.delivered(step);
    String builtin = step.text("builtinResult");
    if (builtin != null) {
      JSONRPCResponse made = JSONRPCResponse.result(request.id(), Json.object(builtin));
      return maySwitch(() -> left(served, step, made));
    }
    Object params = served.opened(request.params(), step);
    JSONRPCRequest opened =
        new JSONRPCRequest(request.jsonrpc(), request.method(), request.id(), params);
    return in(served, next.handleRequest(served.context(), opened))
        .flatMap(response -> maySwitch(() -> left(served, step, response)));
  }

  /** Returns the response as it leaves. */
  private static JSONRPCResponse left(Exchange served, Step delivered, JSONRPCResponse response) {
    Map<String, Object> refused = served.refusedBy(response.error());
    if (refused != null && served.isTool()) {
      return JSONRPCResponse.result(response.id(), refused);
    }
    Map<String, Object> result = reported(delivered, response.result());
    if (result == null) {
      return response;
    }
    Step step = served.result(result, delivered.has("whole"));
    return step.is("respond")
        ? JSONRPCResponse.result(response.id(), Json.changed(result, step.list("set")))
        : replied(response.id(), step);
  }

  /** Returns a result, if the engine wants to know of it. */
  private static @Nullable Map<String, Object> reported(Step delivered, @Nullable Object result) {
    Object report = delivered.members().get("report");
    if (result == null || report == null || Boolean.FALSE.equals(report)) {
      return null;
    }
    Map<String, Object> members = Json.members(result);
    return members != null && (Boolean.TRUE.equals(report) || members.get(report) != null)
        ? members
        : null;
  }

  private static JSONRPCResponse replied(Object id, Step step) {
    return step.has("error")
        ? JSONRPCResponse.error(id, step.error())
        : JSONRPCResponse.result(id, step.object(step.has("tool") ? "tool" : "result"));
  }

  /** A handler's context is its message's, not one by an id that a client chose. */
  private static <T> Mono<T> in(Exchange served, Mono<T> handling) {
    return handling.contextWrite(it -> it.put(McpTransportContext.KEY, served.context()));
  }

  /** Runs what may wait for the ledger here, or elsewhere where waiting is not allowed. */
  static <T> Mono<T> maySwitch(Callable<T> work) {
    return Mono.defer(
        () -> {
          Mono<T> run = Mono.fromCallable(work);
          return Schedulers.isInNonBlockingThread()
              ? run.subscribeOn(Schedulers.boundedElastic())
              : run;
        });
  }
}
