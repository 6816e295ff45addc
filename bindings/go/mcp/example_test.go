package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// exampleCodec has a key of its own; a server of yours has its keys of the environment, by sealwax.FromEnv.
func exampleCodec() *sealwax.Codec { return codecOf(freshKeys()) }

func exampleGuard() *sealwaxmcp.Guard {
	return must(sealwaxmcp.New(exampleCodec(), sealwaxmcp.Anonymous))
}

// exampleCall calls a tool by the official client, whose user accepts whatever is asked, and chooses yes.
func exampleCall(server *mcp.Server, tool string, arguments any) {
	ctx := context.Background()
	theirs, ours := mcp.NewInMemoryTransports()
	must(server.Connect(ctx, theirs, nil))
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1.0.0"}, &mcp.ClientOptions{
		ElicitationHandler: func(_ context.Context, asked *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return yes(asked.Params), nil
		},
	})
	session := must(client.Connect(ctx, ours, nil))
	defer session.Close()
	result := must(session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments}))
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
}

func ExampleWithConfirm() {
	guard := must(sealwaxmcp.New(exampleCodec(), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirm("delete_note", "Delete note {id}?")))
	type note struct {
		ID int `json:"id"`
	}
	// It runs only for a call that the user confirmed.
	deleteNote := func(_ context.Context, _ *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
		text := fmt.Sprint("deleted ", in.ID)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "delete_note"}, deleteNote)
	if err := guard.Protect(server); err != nil {
		log.Fatal(err)
	}

	exampleCall(server, "delete_note", note{7})
	// Output: deleted 7
}

func ExampleWithConfirmFunc() {
	question := func(_ context.Context, arguments json.RawMessage) (string, error) {
		var folder struct{ Name string }
		err := json.Unmarshal(arguments, &folder)
		return fmt.Sprintf("Delete all notes in %q?", folder.Name), err
	}
	_, err := sealwaxmcp.New(exampleCodec(), sealwaxmcp.Anonymous,
		sealwaxmcp.WithConfirmFunc("empty", question), sealwaxmcp.WithConfirmTTL(2*time.Minute))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleOpened() {
	guard := exampleGuard()
	type note struct {
		ID int `json:"id"`
	}
	deleteNote := func(ctx context.Context, req *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
		before, again, err := sealwaxmcp.Opened[note](ctx, req)
		if err != nil {
			return nil, nil, err
		}
		if !again {
			state, err := guard.State(ctx, in)
			question := &mcp.ElicitParams{Message: "Delete it?", RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}}}
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"sure": question}, RequestState: state}, nil, err
		}
		text := fmt.Sprint("deleted ", before.ID)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "delete_note"}, deleteNote)
	if err := guard.Protect(server); err != nil {
		log.Fatal(err)
	}

	// The official client asks its user, and comes back with the state.
	exampleCall(server, "delete_note", note{7})
	// Output: deleted 7
}

func ExampleGuard_ReferenceHandles() {
	guard := exampleGuard()
	rows := must(guard.ReferenceHandles("row"))
	check := func(ctx context.Context, _ *mcp.CallToolRequest, in struct{ Row string }) (*mcp.CallToolResult, any, error) {
		row, err := rows.Check(ctx, in.Row)
		if err != nil {
			// The result is the protocol's fixed answer to a refused handle.
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: row.ULID}}}, nil, nil
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "rows", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "check"}, check)
	fmt.Println(guard.Protect(server))
	// Output: <nil>
}

func ExampleNewSessions() {
	guard := exampleGuard()
	initial := func(context.Context, *mcp.RequestExtra) (int, error) { return 0, nil }
	counts := must(sealwaxmcp.NewSessions(guard, initial, sealwaxmcp.RequiredTools("count")))
	count := func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		session, err := counts.Of(ctx)
		if err != nil {
			return nil, nil, err
		}
		n := session.Value() + 1
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(n)}}}, nil, session.Write(n)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "counter", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "count"}, count)
	fmt.Println(guard.Protect(server))
	// Output: <nil>
}
