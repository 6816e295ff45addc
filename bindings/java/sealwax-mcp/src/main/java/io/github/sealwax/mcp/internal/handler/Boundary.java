package io.github.sealwax.mcp.internal.handler;

import io.github.sealwax.Answer;
import io.github.sealwax.Profile;
import io.github.sealwax.SealwaxException;
import io.github.sealwax.mcp.internal.Engine;
import io.github.sealwax.mcp.internal.GuardCore;
import io.github.sealwax.mcp.internal.Json;
import io.github.sealwax.mcp.internal.Step;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import io.modelcontextprotocol.spec.McpServerTransport;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Between wire and handlers: opens what comes in, seals what goes out. */
public final class Boundary {
  private final GuardCore guard;
  private final Engine engine;

  public Boundary(GuardCore guard) {
    this.guard = guard;
    this.engine = guard.engine();
  }

  /** Returns the questions to the users of a connection. */
  Questions questions(McpServerTransport transport) {
    return new Questions(guard, transport);
  }

  /** Takes a user's answer. */
  Mono<Void> answered(McpTransportContext context, JSONRPCResponse response, Questions questions) {
    return maySwitch(
        () -> {
          questions.take(context, response);
          return null;
        });
  }

  /**
   * Serves a request; {@code next} is the server's own handling, in the context that it is given.
   * With questions, its user can be asked while it waits.
   */
  Mono<JSONRPCResponse> request(
      McpTransportContext context,
      JSONRPCRequest request,
      @Nullable Questions questions,
      BiFunction<McpTransportContext, JSONRPCRequest, Mono<JSONRPCResponse>> next) {
    return Mono.using(
            () ->
                new Served(
                    guard, engine, context, request.method(), request.params(), false, questions),
            served ->
                maySwitch(() -> entered(served))
                    .flatMap(step -> asking(served, step, next))
                    .flatMap(step -> serve(served, step, request, next))
                    .onErrorResume(
                        SealwaxException.class,
                        failure -> Mono.just(failed(request.id(), failure, served))),
            Served::close)
        .onErrorResume(
            SealwaxException.class, failure -> Mono.just(failed(request.id(), failure, null)));
  }

  /** The SDK would tell the client why. */
  private JSONRPCResponse failed(Object id, SealwaxException failure, @Nullable Served served) {
    Map<String, Object> ofTool = served == null ? null : served.unsealedBy(failure);
    if (ofTool != null) {
      return JSONRPCResponse.result(id, ofTool);
    }
    if (served == null || !served.isReported(failure)) {
      guard.hooks().reportFailure(failure);
    }
    // The engine refuses by a step. Whatever it throws, the client had no part in it.
    Throwable any = new IllegalStateException(failure);
    Step answer = Step.read(Answer.of(Profile.DATA_LAYER, any));
    return JSONRPCResponse.error(id, answer.error());
  }

  /** Serves a notification. */
  Mono<Void> notification(
      McpTransportContext context,
      JSONRPCNotification notification,
      BiFunction<McpTransportContext, JSONRPCNotification, Mono<Void>> next) {
    return Mono.using(
            () ->
                new Served(
                    guard,
                    engine,
                    context,
                    notification.method(),
                    notification.params(),
                    true,
                    null),
            served ->
                maySwitch(() -> entered(served))
                    .flatMap(
                        step -> {
                          if (!step.is("deliver")) {
                            return Mono.<Void>empty();
                          }
                          served.delivered(step);
                          return in(served, next.apply(served.context(), notification));
                        }),
            Served::close)
        .onErrorResume(
            SealwaxException.class,
            failure -> {
              guard.hooks().reportFailure(failure);
              return Mono.empty();
            });
  }

  private Step entered(Served served) {
    if (served.mayDefer()) {
      Map<String, Object> deliver =
          served.fields == null
              ? Map.of("step", "deliver")
              : Map.of("step", "deliver", "report", served.fields.result());
      return new Step(deliver);
    }
    if (engine.defers()) {
      // A request whose token fields need the caller brings it; the engine would ask for it first.
      served.caller.identify();
    }
    Step first = served.begin();
    return served.caller.drive(served.exchange(), first, served::answer);
  }

  /** Asks others, if the engine wants to. What reads the client's answer waits for nothing. */
  private static Mono<Step> asking(
      Served served,
      Step step,
      BiFunction<McpTransportContext, JSONRPCRequest, Mono<JSONRPCResponse>> next) {
    if (!step.asksOthers()) {
      return Mono.just(step);
    }
    return served
        .told(step, next)
        .publishOn(Schedulers.boundedElastic())
        .map(
            told -> {
              Engine.Exchange exchange = served.exchange();
              return served.caller.drive(exchange, exchange.told(told), served::answer);
            })
        .flatMap(more -> asking(served, more, next));
  }

  private Mono<JSONRPCResponse> serve(
      Served served,
      Step step,
      JSONRPCRequest request,
      BiFunction<McpTransportContext, JSONRPCRequest, Mono<JSONRPCResponse>> next) {
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
    return in(served, next.apply(served.context(), opened))
        .flatMap(response -> maySwitch(() -> left(served, step, response)));
  }

  /** Returns the response as it leaves. */
  private JSONRPCResponse left(Served served, Step delivered, JSONRPCResponse response) {
    Map<String, Object> refused = served.refusedBy(response.error());
    if (refused != null && "tools/call".equals(served.method())) {
      return JSONRPCResponse.result(response.id(), refused);
    }
    Map<String, Object> result = reported(delivered, response.result());
    if (result == null) {
      return response;
    }
    Engine.Exchange exchange = served.exchange();
    Step step =
        served.caller.drive(
            exchange, exchange.result(result, served.fields, delivered.has("whole")));
    if (!step.is("respond")) {
      return replied(response.id(), step);
    }
    return JSONRPCResponse.result(response.id(), Json.changed(result, step.list("set")));
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
    if (step.has("error")) {
      return JSONRPCResponse.error(id, step.error());
    }
    return JSONRPCResponse.result(id, step.object(step.has("tool") ? "tool" : "result"));
  }

  /** A handler's context is its message's, not one by an id that a client chose. */
  private static <T> Mono<T> in(Served served, Mono<T> handling) {
    return handling.contextWrite(it -> it.put(McpTransportContext.KEY, served.context()));
  }

  /** Runs what may wait for the ledger here, or elsewhere where waiting is not allowed. */
  private static <T> Mono<T> maySwitch(Callable<T> work) {
    return Mono.defer(
        () -> {
          Mono<T> run = Mono.fromCallable(work);
          return Schedulers.isInNonBlockingThread()
              ? run.subscribeOn(Schedulers.boundedElastic())
              : run;
        });
  }
}
