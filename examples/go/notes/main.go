// Notes is a small MCP server whose tokens are sealed: a question, a basket, a list in pages.
//
//	export SEALWAX_KEYS="$(sealwax keygen)"
//	go run ./notes                    # on stdio
//	PORT=8000 go run ./notes          # on HTTP
//
// With NOTES_JWT_SECRET, HTTP asks for a bearer token: a JWT, signed with HS256, of iss, sub, client_id, exp, and aud: the
// audience. With SEALWAX_LEDGER, the URL of a Redis or Valkey that all replicas share, each answer is accepted once.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	"sealwax.example/internal/serve"
)

const (
	audience = "https://notes.example.com"
	count    = 25
	pageSize = 10
)

type notes struct {
	guard   *sealwaxmcp.Guard
	baskets *sealwaxmcp.SelfContainedHandles[[]string]

	mu      sync.Mutex
	deleted map[int]bool
}

type note struct {
	ID int `json:"id"`
}

// asked is the state between the question and the answer.
type asked struct {
	ID int `json:"asked"`
}

func (n *notes) deleteNote(ctx context.Context, req *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
	before, ok, err := sealwaxmcp.Opened[asked](ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		state, err := n.guard.State(ctx, asked{in.ID})
		if err != nil {
			return nil, nil, err
		}
		question := &mcp.ElicitParams{
			Message: fmt.Sprintf("Delete note %d?", in.ID),
			RequestedSchema: map[string]any{
				"type": "object", "properties": map[string]any{"confirm": map[string]any{"type": "boolean"}},
				"required": []string{"confirm"},
			},
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"confirm": question}, RequestState: state}, nil, nil
	}
	if !confirmed(req) || before.ID != in.ID {
		return told("note %d kept", in.ID), nil, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deleted[in.ID] = true
	return told("note %d deleted", in.ID), nil, nil
}

func confirmed(req *mcp.CallToolRequest) bool {
	answer, ok := req.Params.InputResponses["confirm"].(*mcp.ElicitResult)
	return ok && answer.Action == "accept" && answer.Content["confirm"] == true
}

func told(format string, what ...any) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, what...)}}}
}

type addition struct {
	Basket string `json:"basket"`
	Item   string `json:"item"`
}

func (n *notes) newBasket(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	basket, err := n.baskets.Seal(ctx, []string{})
	return shown(basket, []string{}, err)
}

func (n *notes) addToBasket(ctx context.Context, _ *mcp.CallToolRequest, in addition) (*mcp.CallToolResult, any, error) {
	before, err := n.baskets.Open(ctx, in.Basket)
	if err != nil {
		return nil, nil, err
	}
	items := append(before.Value, in.Item)
	basket, err := n.baskets.Renew(ctx, before, items)
	return shown(basket, items, err)
}

func shown(basket sealwaxmcp.SelfContainedHandle, items []string, err error) (*mcp.CallToolResult, any, error) {
	if err != nil {
		return nil, nil, err
	}
	held := map[string]any{"basket": basket.Handle, "expiresAt": basket.ExpiresAt, "items": items}
	text, err := json.Marshal(held)
	if err != nil {
		return nil, nil, err
	}
	result := told("%s", text)
	result.StructuredContent = held
	return result, nil, nil
}

// inPages returns the list of notes in pages of ten. The cursor is the start of the next page, as at the other replicas: those of
// the SDK itself are in a form of Go's.
func inPages(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		list, ok := req.(*mcp.ListResourcesRequest)
		if !ok {
			return next(ctx, method, req)
		}
		start := 0
		if list.Params != nil && list.Params.Cursor != "" {
			var err error
			if start, err = strconv.Atoi(list.Params.Cursor); err != nil {
				return nil, err
			}
		}
		page := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
		page.CacheScope = "private"
		for id := start + 1; id <= min(start+pageSize, count); id++ {
			page.Resources = append(page.Resources, resource(id))
		}
		if start+pageSize < count {
			page.NextCursor = strconv.Itoa(start + pageSize)
		}
		return page, nil
	}
}

func resource(id int) *mcp.Resource {
	return &mcp.Resource{URI: fmt.Sprintf("note:///%d", id), Name: fmt.Sprintf("Note %d", id)}
}

func read(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	var id int
	if _, err := fmt.Sscanf(req.Params.URI, "note:///%d", &id); err != nil {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	text := fmt.Sprintf("This is note %d.", id)
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: text}}}, nil
}

func run() error {
	guard, err := serve.Guard(audience)
	if err != nil {
		return err
	}
	baskets, err := sealwaxmcp.NewSelfContainedHandles[[]string](guard, "basket", sealwaxmcp.HandleTTL(time.Hour))
	if err != nil {
		return err
	}
	n := &notes{guard: guard, baskets: baskets, deleted: map[int]bool{}}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "delete_note", Description: "Delete a note, once the user has confirmed it."}, n.deleteNote)
	mcp.AddTool(server, &mcp.Tool{
		Name: "new_basket", Description: "Make a basket. Pass its text to add_to_basket, exactly as it is.",
	}, n.newBasket)
	mcp.AddTool(server, &mcp.Tool{
		Name: "add_to_basket", Description: "Add an item to a basket. Use the basket that is returned from then on.",
	}, n.addToBasket)
	for id := 1; id <= count; id++ {
		server.AddResource(resource(id), read)
	}
	server.AddReceivingMiddleware(inPages)
	if err := guard.Protect(server); err != nil {
		return err
	}
	return serve.Run(server, audience, func(h http.Handler) (http.Handler, error) { return h, nil })
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}
