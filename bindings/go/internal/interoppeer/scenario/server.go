package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// The params and the result of the methods of the author's own.
type ownParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type ownResult struct {
	mcp.ResultBase
	Things     *[]any `json:"things,omitempty"`
	NextCursor string `json:"nextCursor,omitempty"`
	CacheScope string `json:"cacheScope,omitempty"`
	TTLMs      *int   `json:"ttlMs,omitempty"`
	OK         *bool  `json:"ok,omitempty"`
}

// newServer has a tool, a prompt and a resource named `play`, a list of each, and methods of its own.
func (s *stage) newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, &mcp.ServerOptions{
		ProgressNotificationHandler: func(ctx context.Context, req *mcp.ProgressNotificationServerRequest) {
			must(s.perform(ctx, req))
		},
	})
	server.AddTool(&mcp.Tool{Name: "play", InputSchema: map[string]any{"type": "object"}}, handle)
	server.AddPrompt(&mcp.Prompt{Name: "play"}, handle)
	server.AddResource(&mcp.Resource{URI: "demo://play", Name: "play"}, handle)
	own := func(ctx context.Context, session *mcp.ServerSession, params *ownParams) (*ownResult, error) {
		return performed(ctx, s, &mcp.ServerRequest[*ownParams]{Session: session, Params: params}, &ownResult{})
	}
	for _, method := range []string{"demo/play", "demo/things/list"} {
		must(0, mcp.AddReceivingCustomMethod(server, method, own))
	}
	server.AddReceivingMiddleware(s.lists)
	return server
}

// handle is the handler of a request of the SDK's.
func handle[R any, Q mcp.Request](ctx context.Context, req Q) (*R, error) {
	return performed(ctx, current.Load(), req, new(R))
}

// lists answers what the SDK answers of its own accord.
func (s *stage) lists(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch req := req.(type) {
		case *mcp.ListToolsRequest:
			if s.method.Load() != method {
				// The guard asks.
				page, ok := s.tools[req.Params.Cursor]
				if !ok {
					return nil, errors.New("there is no list")
				}
				return &page, nil
			}
			return performed[mcp.Result](ctx, s, req, &mcp.ListToolsResult{})
		case *mcp.ListPromptsRequest:
			return performed[mcp.Result](ctx, s, req, &mcp.ListPromptsResult{})
		case *mcp.ListResourcesRequest:
			return performed[mcp.Result](ctx, s, req, &mcp.ListResourcesResult{})
		case *mcp.ListResourceTemplatesRequest:
			return performed[mcp.Result](ctx, s, req, &mcp.ListResourceTemplatesResult{})
		}
		return next(ctx, method, req)
	}
}

// performed fills in a result, as the handler of a request is told.
func performed[R any](ctx context.Context, s *stage, req mcp.Request, result R) (none R, err error) {
	returned, err := s.perform(ctx, req)
	if err != nil {
		return none, err
	}
	members := returned.(map[string]any)
	if members["resultType"] == "input_required" {
		// By this alone the SDK knows it.
		members["inputRequests"] = map[string]any{}
	}
	return result, json.Unmarshal(must(json.Marshal(members)), result)
}

// handlers has the channel of each handler that waits to be told, by its id.
var (
	handlers sync.Map
	ids      atomic.Int64
)

// perform does what it is told, and returns what it is told to.
func (s *stage) perform(ctx context.Context, req mcp.Request) (any, error) {
	var sent struct {
		RequestState, Cursor *string
		Arguments            json.RawMessage
	}
	must(0, json.Unmarshal(must(json.Marshal(req.GetParams())), &sent))
	// What was negotiated is said by the header too, whether or not the client sent one.
	if settled, extra := sealwaxmcp.NegotiatedOf(ctx), req.GetExtra(); settled != nil && extra != nil &&
		extra.Header.Get("Mcp-Protocol-Version") != settled.ProtocolVersion {
		panic("the header says otherwise than what was negotiated")
	}
	id, telling := ids.Add(1), make(chan told)
	handlers.Store(id, telling)
	defer handlers.Delete(id)
	say(map[string]any{"handler": map[string]any{
		"id": id, "state": sent.RequestState, "cursor": sent.Cursor, "session": s.session(ctx), "arguments": sent.Arguments,
	}})
	for {
		switch one := <-telling; one.Do {
		case "return":
			return s.withStates(ctx, one.Result)
		case "throw":
			return nil, &jsonrpc.Error{Code: -32000, Message: "the handler's own"}
		default:
			say(map[string]any{"done": s.did(ctx, req, one)})
		}
	}
}

func (s *stage) session(ctx context.Context) any {
	if s.sessions == nil {
		return nil
	}
	session, err := s.sessions.Of(ctx)
	if errors.Is(err, sealwaxmcp.ErrNoSession) {
		return nil
	}
	must(0, err)
	return map[string]any{"value": session.Value(), "generation": session.Generation()}
}

// withStates returns a value with what an author gets for a state in place of each `{"$state": value}`.
func (s *stage) withStates(ctx context.Context, value any) (_ any, err error) {
	switch value := value.(type) {
	case []any:
		for i, one := range value {
			if value[i], err = s.withStates(ctx, one); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		if state, ok := value["$state"]; ok {
			return s.guard.State(ctx, state)
		}
		for name, one := range value {
			if value[name], err = s.withStates(ctx, one); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
