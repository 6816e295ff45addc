package sealwaxotel_test

import (
	"maps"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	sealwaxotel "github.com/sealwax/sealwax-go/mcp/otel"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// What a guard does is counted, under the names that every language has, and no id, target or principal is an attribute.
func TestInstruments(t *testing.T) {
	reader := metric.NewManualReader()
	meter := metric.NewMeterProvider(metric.WithReader(reader)).Meter("sealwax")
	codec := sealwaxtest.NewCodec(t, sealwaxtest.NewClock(time.Now()))
	guard := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous, must(sealwaxotel.Instruments(meter))...))
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, &mcp.ServerOptions{PageSize: 1})
	server.AddPrompt(&mcp.Prompt{Name: "a"}, nil)
	server.AddPrompt(&mcp.Prompt{Name: "b"}, nil)
	if err := guard.Protect(server); err != nil {
		t.Fatal(err)
	}
	theirs, ours := mcp.NewInMemoryTransports()
	must(server.Connect(t.Context(), theirs, nil))
	client := must(mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), ours, nil))
	defer client.Close()
	page := must(client.ListPrompts(t.Context(), nil))
	must(client.ListPrompts(t.Context(), &mcp.ListPromptsParams{Cursor: page.NextCursor}))
	if _, err := client.ListPrompts(t.Context(), &mcp.ListPromptsParams{Cursor: "forged"}); err == nil {
		t.Fatal("forged")
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]metricdata.Metrics{}
	for _, one := range all.ScopeMetrics[0].Metrics {
		found[one.Name] = one
	}
	known := attribute.NewAllowKeysFilter("sealwax.event", "sealwax.kind", "sealwax.key.id", "mcp.method.name", "error.type")
	expectKnown := func(attributes attribute.Set) {
		if _, others := attributes.Filter(known); len(others) > 0 {
			t.Errorf("attributes %v", others)
		}
	}
	counted := map[string]int64{}
	for _, point := range found["sealwax.tokens"].Data.(metricdata.Sum[int64]).DataPoints {
		event, _ := point.Attributes.Value("sealwax.event")
		method, _ := point.Attributes.Value("mcp.method.name")
		counted[event.AsString()+" by "+method.AsString()] += point.Value
		expectKnown(point.Attributes)
	}
	if expected := map[string]int64{
		"sealed by prompts/list": 1, "opened by prompts/list": 1, "refused by prompts/list": 1,
	}; !maps.Equal(counted, expected) {
		t.Errorf("counted %v", counted)
	}
	for name, bounds := range map[string]int{"sealwax.token.age": 11, "sealwax.guard.duration": 16} {
		for _, point := range found[name].Data.(metricdata.Histogram[float64]).DataPoints {
			if len(point.Bounds) != bounds || point.Count == 0 || found[name].Unit != "s" {
				t.Errorf("%s: %d bounds, %d counted", name, len(point.Bounds), point.Count)
			}
			expectKnown(point.Attributes)
		}
	}
}
