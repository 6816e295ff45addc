package sealwaxotel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	sealwaxotel "github.com/sealwax/sealwax-go/mcp/otel"
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
	codec := must(sealwax.New(must(sealwax.NewKeyRing(must(sealwax.GenerateKey()))), "https://notes.example.com"))
	guard := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous, must(sealwaxotel.Instruments(meter))...))
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, &mcp.ServerOptions{PageSize: 1})
	for _, name := range []string{"a", "b"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return nil, nil, nil
		})
	}
	if err := guard.Protect(server); err != nil {
		t.Fatal(err)
	}
	theirs, ours := mcp.NewInMemoryTransports()
	must(server.Connect(t.Context(), theirs, nil))
	client := must(mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil).Connect(t.Context(), ours, nil))
	defer client.Close()
	page := must(client.ListTools(t.Context(), nil))
	must(client.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: page.NextCursor}))
	if _, err := client.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "forged"}); err == nil {
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
	counted := map[string]int64{}
	for _, point := range found["sealwax.tokens"].Data.(metricdata.Sum[int64]).DataPoints {
		event, _ := point.Attributes.Value("sealwax.event")
		counted[event.AsString()] += point.Value
		method, _ := point.Attributes.Value("mcp.method.name")
		if method.AsString() != "tools/list" {
			t.Errorf("method %s", method.AsString())
		}
		expectKnown(t, point.Attributes)
	}
	if counted["sealed"] != 1 || counted["opened"] != 1 || counted["refused"] != 1 {
		t.Errorf("counted %v", counted)
	}
	for name, bounds := range map[string]int{"sealwax.token.age": 11, "sealwax.guard.duration": 16} {
		for _, point := range found[name].Data.(metricdata.Histogram[float64]).DataPoints {
			if len(point.Bounds) != bounds || point.Count == 0 || found[name].Unit != "s" {
				t.Errorf("%s: %d bounds, %d counted", name, len(point.Bounds), point.Count)
			}
			expectKnown(t, point.Attributes)
		}
	}
}

func expectKnown(t *testing.T, attributes attribute.Set) {
	t.Helper()
	known := []string{"sealwax.event", "sealwax.kind", "sealwax.key.id", "mcp.method.name", "error.type"}
	for _, one := range attributes.ToSlice() {
		if !slices.Contains(known, string(one.Key)) {
			t.Errorf("an attribute %s", one.Key)
		}
	}
}
