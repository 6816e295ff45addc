package sealwaxtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// The server under test.
func newServer(guard *sealwaxmcp.Guard) (*mcp.Server, error) {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	clear := func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		_, asked, err := sealwaxmcp.Opened[bool](ctx, req)
		if err != nil {
			return nil, nil, err
		}
		if asked {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "cleared"}}}, nil, nil
		}
		state, err := guard.State(ctx, true)
		question := mcp.InputRequestMap{"sure": &mcp.ElicitParams{Message: "Sure?", RequestedSchema: map[string]any{"type": "object"}}}
		return &mcp.CallToolResult{InputRequests: question, RequestState: state}, nil, err
	}
	mcp.AddTool(server, &mcp.Tool{Name: "clear"}, clear)
	return server, guard.Protect(server)
}

func TestAnAnswerIsForItsUserForTenMinutesAndOnce(t *testing.T) {
	ctx, clock, user := t.Context(), sealwaxtest.NewClock(time.Now()), sealwaxtest.NewUser(sealwax.Subject("alice"))
	users := sealwaxmcp.PrincipalFunc(func(context.Context, *mcp.RequestExtra) (sealwaxmcp.Principal, error) {
		return user.Principal(), nil
	})
	memory := must(ledger.NewMemory(ledger.Clock(clock.Now)))
	server := must(newServer(must(sealwaxmcp.New(sealwaxtest.NewCodec(t, clock), users, sealwaxmcp.WithLedger(memory)))))
	// In the same process.
	here, there := mcp.NewInMemoryTransports()
	must(server.Connect(ctx, there, nil))
	options := &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}}
	client := must(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1.0.0"}, options).Connect(ctx, here, nil))
	answer := func(state string) error {
		_, err := client.CallTool(ctx, &mcp.CallToolParams{Name: "clear", RequestState: state})
		return err
	}
	ask := func() string { return must(client.CallTool(ctx, &mcp.CallToolParams{Name: "clear"})).RequestState }

	state := ask()
	user.Set(sealwax.Subject("mallory"))
	if answer(state) == nil {
		t.Error("expected a refusal of another user")
	}
	user.Set(sealwax.Subject("alice"))
	clock.Advance(599 * time.Second)
	if err := answer(state); err != nil {
		t.Error(err)
	}
	if answer(state) == nil { // the ledger has it
		t.Error("expected a refusal of the second use")
	}
	late := ask()
	clock.Advance(600 * time.Second)
	if answer(late) == nil {
		t.Error("expected a refusal after ten minutes")
	}
}
