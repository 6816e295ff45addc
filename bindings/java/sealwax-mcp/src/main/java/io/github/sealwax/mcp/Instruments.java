package io.github.sealwax.mcp;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.LongCounter;
import io.opentelemetry.api.metrics.Meter;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Metrics by OpenTelemetry, of what a guard's hooks hear:
 *
 * <pre>{@code
 * Instruments instruments = new Instruments(meter);
 * Guard.builder(codec).onEvent(instruments::happened).onRefused(instruments::refused)
 * }</pre>
 *
 * <ul>
 *   <li>counter {@code sealwax.tokens}, with the attributes {@code sealwax.event} (opened, sealed,
 *       ended, revoked, refused), {@code sealwax.kind}, {@code sealwax.key.id}, {@code
 *       mcp.method.name}, and of what was refused {@code error.type}, its code
 *   <li>histogram {@code sealwax.token.age}, of opened ones, in seconds, with {@code sealwax.kind}
 *   <li>histogram {@code sealwax.guard.duration}, in seconds, with {@code sealwax.event} and {@code
 *       sealwax.kind}
 * </ul>
 *
 * <p>No id, target or principal is an attribute, and a method that is none of the protocol's is
 * {@code _OTHER}.
 */
@SuppressWarnings("exports") // Its users require OpenTelemetry themselves.
public final class Instruments {
  /**
   * From a second to 30 days. Every language has the same bounds, or no quantile could be computed
   * of a fleet.
   */
  private static final List<Double> AGES =
      List.of(
          1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0, 2_592_000.0);

  /** From 10 microseconds to a second. */
  private static final List<Double> DURATIONS =
      List.of(
          0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
          0.05, 0.1, 0.25, 0.5, 1.0);

  private static final AttributeKey<String> EVENT = AttributeKey.stringKey("sealwax.event");
  private static final AttributeKey<String> KIND = AttributeKey.stringKey("sealwax.kind");
  private static final AttributeKey<String> KEY_ID = AttributeKey.stringKey("sealwax.key.id");
  private static final AttributeKey<String> METHOD = AttributeKey.stringKey("mcp.method.name");
  private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

  private record Made(LongCounter tokens, DoubleHistogram age, DoubleHistogram duration) {}

  private final Supplier<Meter> meter;
  private volatile @Nullable Made made;

  /** Makes them on the global meter named {@code sealwax}, as it is when the first token comes. */
  public Instruments() {
    meter = () -> GlobalOpenTelemetry.getMeter("sealwax");
  }

  /**
   * Makes them.
   *
   * @param meter such as that of a {@code SdkMeterProvider}
   */
  public Instruments(Meter meter) {
    this.meter = () -> meter;
  }

  /** Not before they are needed: to ask for the global meter keeps an SDK from being registered. */
  private Made made() {
    Made known = made;
    if (known == null) {
      // Of two threads, both get the same ones from the meter.
      known = made = of(meter.get());
    }
    return known;
  }

  private static Made of(Meter meter) {
    return new Made(
        meter
            .counterBuilder("sealwax.tokens")
            .setUnit("{token}")
            .setDescription("Tokens that were opened, sealed, ended, revoked or refused")
            .build(),
        seconds(
            meter,
            "sealwax.token.age",
            "How long ago the tokens were sealed that were opened",
            AGES),
        seconds(
            meter,
            "sealwax.guard.duration",
            "How long a message or a result was at the guard",
            DURATIONS));
  }

  private static DoubleHistogram seconds(
      Meter meter, String name, String description, List<Double> bounds) {
    return meter
        .histogramBuilder(name)
        .setUnit("s")
        .setDescription(description)
        .setExplicitBucketBoundariesAdvice(bounds)
        .build();
  }

  /**
   * Records what happened to a token, for {@link GuardOptions#onEvent}.
   *
   * @param event what happened
   */
  public void happened(TokenEvent event) {
    Made made = made();
    Attributes what = Attributes.of(EVENT, event.event(), KIND, event.kind());
    made.duration.record(inSeconds(event.took()), what);
    if (event.age() != null) {
      made.age.record(inSeconds(event.age()), Attributes.of(KIND, event.kind()));
    }
    AttributesBuilder all = what.toBuilder();
    all.put(KEY_ID, event.keyId());
    all.put(METHOD, method(event.method(), event.isCustomMethod()));
    made.tokens.add(1, all.build());
  }

  /**
   * Records a refusal, for {@link GuardOptions#onRefused}.
   *
   * @param refusal what was refused
   */
  public void refused(Refusal refusal) {
    AttributesBuilder all = Attributes.builder();
    all.put(EVENT, "refused");
    all.put(KIND, refusal.kind());
    all.put(ERROR, refusal.code());
    all.put(METHOD, method(refusal.method(), refusal.isCustomMethod()));
    made().tokens.add(1, all.build());
  }

  private static double inSeconds(Duration time) {
    return time.toNanos() / 1e9;
  }

  /** A client may have made up a method that is none of the protocol's: those count as one. */
  private static @Nullable String method(@Nullable String name, boolean isCustom) {
    return isCustom ? "_OTHER" : name;
  }
}
