// Package sealwaxotel records the metrics of a guard by OpenTelemetry:
//
//   - sealwax.tokens, a counter: sealwax.event (opened, sealed, ended, revoked, refused), sealwax.kind, sealwax.key.id,
//     mcp.method.name, and for refusals error.type, the code;
//   - sealwax.token.age, a histogram in seconds: how long ago the opened ones were sealed, by sealwax.kind;
//   - sealwax.guard.duration, a histogram in seconds: how long a message or a result was at the guard, by sealwax.event and
//     sealwax.kind.
//
// No id, target or principal is an attribute.
package sealwaxotel

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// The bounds of the histograms. Every language has the same, or no quantile could be computed of a fleet.
var (
	// From a second to 30 days.
	ages = []float64{1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400, 604_800, 2_592_000}
	// From 10 microseconds to a second.
	durations = []float64{
		0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
	}
)

// Instruments returns options of a guard that record its metrics. meter may be nil: it is the global one named "sealwax" then.
func Instruments(meter metric.Meter) ([]sealwaxmcp.Option, error) {
	if meter == nil {
		meter = otel.Meter("sealwax")
	}
	tokens, err := meter.Int64Counter("sealwax.tokens", metric.WithUnit("{token}"),
		metric.WithDescription("Tokens that were opened, sealed, ended, revoked or refused"))
	if err != nil {
		return nil, err
	}
	age, err := meter.Float64Histogram("sealwax.token.age", metric.WithUnit("s"), metric.WithExplicitBucketBoundaries(ages...),
		metric.WithDescription("How long ago the tokens were sealed that were opened"))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram("sealwax.guard.duration", metric.WithUnit("s"),
		metric.WithExplicitBucketBoundaries(durations...),
		metric.WithDescription("How long a message or a result was at the guard"))
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	observe := func(event sealwaxmcp.TokenEvent) {
		kind, what := attribute.String("sealwax.kind", event.Kind), attribute.String("sealwax.event", event.Event)
		all := append([]attribute.KeyValue{what, kind}, method(event.Method, event.CustomMethod)...)
		if event.KeyID != "" {
			all = append(all, attribute.String("sealwax.key.id", event.KeyID))
		}
		tokens.Add(ctx, 1, metric.WithAttributes(all...))
		if event.Age >= 0 {
			age.Record(ctx, event.Age.Seconds(), metric.WithAttributes(kind))
		}
		duration.Record(ctx, event.Took.Seconds(), metric.WithAttributes(what, kind))
	}
	refuse := func(refusal sealwaxmcp.Refusal) {
		all := append([]attribute.KeyValue{
			attribute.String("sealwax.event", "refused"), attribute.String("sealwax.kind", refusal.Kind),
			attribute.String("error.type", refusal.Code),
		}, method(refusal.Method, refusal.CustomMethod)...)
		tokens.Add(ctx, 1, metric.WithAttributes(all...))
	}
	return []sealwaxmcp.Option{sealwaxmcp.OnEvent(observe), sealwaxmcp.OnRefused(refuse)}, nil
}

// method returns the attribute of a method. A client may have made up one that is none of the protocol's: those count as one.
func method(name string, custom bool) []attribute.KeyValue {
	switch {
	case name == "":
		return nil
	case custom:
		name = "_OTHER"
	}
	return []attribute.KeyValue{attribute.String("mcp.method.name", name)}
}
