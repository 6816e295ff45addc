package io.github.sealwax.mcp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Metrics by OpenTelemetry, under the names that every language has. */
class InstrumentsTest extends Guarded {
  private static final Set<String> KNOWN =
      Set.of("sealwax.event", "sealwax.kind", "sealwax.key.id", "mcp.method.name", "error.type");

  private static String text(Attributes attributes, String name) {
    return attributes.get(AttributeKey.stringKey(name));
  }

  private static void expectKnown(Attributes attributes) {
    attributes.forEach((key, value) -> assertTrue(KNOWN.contains(key.getKey()), key.getKey()));
  }

  @AfterEach
  void forget() {
    GlobalOpenTelemetry.resetForTest();
  }

  @Test
  void whatAGuardDoesIsCounted() {
    // An SDK may be registered after them.
    Instruments instruments = new Instruments();
    InMemoryMetricReader reader = InMemoryMetricReader.create();
    OpenTelemetrySdk.builder()
        .setMeterProvider(SdkMeterProvider.builder().registerMetricReader(reader).build())
        .buildAndRegisterGlobal();
    Guard guard = builder().onEvent(instruments::happened).onRefused(instruments::refused).build();
    Links<Integer> links = guard.links("report", Integer.class);
    Direct server = Direct.serving(guard, context -> Map.of("link", links.seal(context, 7)));
    Object link = server.result("alice", "tools/call", Map.of("name", "it")).get("link");
    server.result("alice", "made/up", Map.of());
    assertEquals(7, links.open(link).value());
    assertThrows(LinkRefused.class, () -> links.open("forged"));
    Map<String, MetricData> found =
        reader.collectAllMetrics().stream()
            .collect(Collectors.toMap(MetricData::getName, it -> it));

    Map<String, Long> counted = new TreeMap<>();
    for (LongPointData point : found.get("sealwax.tokens").getLongSumData().getPoints()) {
      Attributes all = point.getAttributes();
      expectKnown(all);
      String what = text(all, "sealwax.event") + " by " + text(all, "mcp.method.name");
      counted.merge(what, point.getValue(), Long::sum);
      assertEquals("link", text(all, "sealwax.kind"));
      assertEquals("refused by null".equals(what) ? "malformed" : null, text(all, "error.type"));
    }
    assertEquals(
        "{opened by null=1, refused by null=1, sealed by _OTHER=1, sealed by tools/call=1}",
        counted.toString());
    Map.of("sealwax.token.age", 11, "sealwax.guard.duration", 16)
        .forEach(
            (name, bounds) -> {
              MetricData metric = found.get(name);
              assertEquals("s", metric.getUnit());
              for (HistogramPointData point : metric.getHistogramData().getPoints()) {
                expectKnown(point.getAttributes());
                assertEquals(bounds, point.getBoundaries().size());
                assertTrue(point.getCount() > 0);
              }
            });
  }
}
