package sealwaxmcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
)

var quiet = slog.New(slog.DiscardHandler)

var parseKey = sealwax.ParseKey

type thingsParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

type thingsResult struct {
	mcp.ResultBase
	Things     *[]any `json:"things,omitempty"`
	NextCursor string `json:"nextCursor,omitempty"`
	CacheScope string `json:"cacheScope,omitempty"`
	TTLMs      *int   `json:"ttlMs,omitempty"`
	OK         *bool  `json:"ok,omitempty"`
}

// newServer has a tool, a prompt and a resource named `play`, a list of each, and methods of its own.
func (p *playing) newServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "play", Version: "1"}, &mcp.ServerOptions{
		ProgressNotificationHandler: func(ctx context.Context, req *mcp.ProgressNotificationServerRequest) {
			_, _ = p.perform(ctx, req)
		},
		Logger: quiet,
	})
	schema := map[string]any{"type": "object"}
	server.AddTool(&mcp.Tool{Name: "play", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return performed[mcp.CallToolResult](p, ctx, req)
	})
	server.AddPrompt(&mcp.Prompt{Name: "play"}, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return performed[mcp.GetPromptResult](p, ctx, req)
	})
	server.AddResource(&mcp.Resource{URI: "demo://play", Name: "play"}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return performed[mcp.ReadResourceResult](p, ctx, req)
	})
	for _, method := range []string{"demo/play", "demo/things/list"} {
		err := mcp.AddReceivingCustomMethod(server, method, func(ctx context.Context, _ *mcp.ServerSession, _ *thingsParams) (*thingsResult, error) {
			return performed[thingsResult](p, ctx, served(ctx).req)
		})
		if err != nil {
			p.Fatal(err)
		}
	}
	server.AddReceivingMiddleware(p.seen, p.lists)
	return server
}

// lists answers what the SDK answers of its own accord.
func (p *playing) lists(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != p.found.sent["method"] {
			return next(ctx, method, req)
		}
		switch req.(type) {
		case *mcp.ListToolsRequest:
			return result(performed[mcp.ListToolsResult](p, ctx, req))
		case *mcp.ListPromptsRequest:
			return result(performed[mcp.ListPromptsResult](p, ctx, req))
		case *mcp.ListResourcesRequest:
			return result(performed[mcp.ListResourcesResult](p, ctx, req))
		case *mcp.ListResourceTemplatesRequest:
			return result(performed[mcp.ListResourceTemplatesResult](p, ctx, req))
		}
		return next(ctx, method, req)
	}
}

// result keeps a nil from being a result.
func result[R mcp.Result](found R, err error) (mcp.Result, error) {
	if err != nil {
		return nil, err
	}
	return found, nil
}

// seen records a message that the guard delivered.
func (p *playing) seen(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		sent := p.found.sent["method"]
		if sent == "notifications/demo" {
			sent = "notifications/progress"
		}
		if method == sent {
			p.found.delivered = map[string]any{
				"state": textOf(req.GetParams(), "requestState"), "cursor": textOf(req.GetParams(), "cursor"),
				"session": p.session(ctx),
			}
		}
		return next(ctx, method, req)
	}
}

func (p *playing) session(ctx context.Context) any {
	if p.sessions == nil {
		return nil
	}
	session, err := p.sessions.Of(ctx)
	if err != nil {
		return nil
	}
	return map[string]any{"value": session.Value(), "generation": session.Generation()}
}

// performed runs the event's handler, and returns its result.
func performed[T any](p *playing, ctx context.Context, req mcp.Request) (*T, error) {
	found, err := p.perform(ctx, req)
	if err != nil {
		return nil, err
	}
	if made, ok := found.(*T); ok {
		return made, nil
	}
	members := object(found)
	if members["resultType"] == "input_required" {
		// By this alone the SDK knows it.
		members["inputRequests"] = map[string]any{}
	}
	result := new(T)
	return result, json.Unmarshal(jsonOf(members), result)
}

func (p *playing) perform(ctx context.Context, req mcp.Request) (any, error) {
	var returned any = map[string]any{}
	for _, one := range list(p.found.event["handler"]) {
		operation := list(one)
		switch operation[0] {
		case "return":
			stated, err := p.withStates(ctx, operation[1])
			if err != nil {
				return nil, err
			}
			returned = p.world.resolved(stated)
		case "result":
			session, err := p.sessions.Of(ctx)
			if err != nil {
				return nil, err
			}
			if returned, err = Result(session, resultOf); err != nil {
				return nil, err
			}
		case "throw":
			return nil, &jsonrpc.Error{Code: -32000, Message: "the handler's own"}
		default:
			p.found.did = append(p.found.did, p.did(ctx, req, operation))
		}
	}
	mine := p.found
	if during := list(mine.event["during"]); during != nil {
		var events []map[string]any
		for _, one := range during {
			events = append(events, object(one))
		}
		mine.wrong = p.play(events)
	}
	return returned, nil
}

// resultOf makes a tool's result of a session's value.
func resultOf(value any) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: describe(value)}}}, nil
}

// withStates returns a result with what an author gets for each state that it names.
func (p *playing) withStates(ctx context.Context, value any) (any, error) {
	switch value := value.(type) {
	case []any:
		found := make([]any, len(value))
		for i, one := range value {
			stated, err := p.withStates(ctx, one)
			if err != nil {
				return nil, err
			}
			found[i] = stated
		}
		return found, nil
	case map[string]any:
		if state, ok := value["$state"]; ok {
			return p.guard.State(ctx, state)
		}
		found := map[string]any{}
		for name, one := range value {
			stated, err := p.withStates(ctx, one)
			if err != nil {
				return nil, err
			}
			found[name] = stated
		}
		return found, nil
	}
	return value, nil
}

func (p *playing) did(ctx context.Context, req mcp.Request, operation []any) any {
	done, err := p.operate(ctx, req, text(operation[0]), operation[1:])
	var refused *HandleRefused
	var failed *sealwax.Error
	switch {
	case err == nil:
		return done
	case errors.As(err, &refused):
		if refused.answer.Code == jsonrpc.CodeInvalidParams {
			return map[string]any{"refused": true}
		}
		return map[string]any{"failed": true}
	case errors.As(err, &failed):
		return map[string]any{"error": failed.Code}
	}
	p.Error(err)
	return nil
}

func (p *playing) operate(ctx context.Context, req mcp.Request, name string, given []any) (any, error) {
	switch name {
	case "state":
		x, err := p.guard.exchangeOf(ctx)
		if err == nil {
			err = x.carriesState()
		}
		if err != nil {
			return nil, err
		}
		if state := x.state(req); state != nil {
			return string(state), nil
		}
		return nil, nil
	case "session":
		return p.session(ctx), nil
	case "write", "update", "fork":
		session, err := p.sessions.Of(ctx)
		if err != nil {
			return nil, err
		}
		switch name {
		case "write":
			return "ok", session.Write(given[0])
		case "fork":
			return session.Fork()
		}
		_, err = session.Update(adding(given))
		return "ok", err
	}
	options := map[string]any{}
	if len(given) > 1 && object(given[len(given)-1]) != nil {
		options = object(given[len(given)-1])
	}
	return p.handled(ctx, name, given, options)
}

// adding adds to a number. With `fails` it does so once.
func adding(given []any) func(any) (any, error) {
	calls := 0
	return func(value any) (any, error) {
		calls++
		if len(given) > 1 && object(given[1])["fails"] == true && calls > 1 {
			return nil, errors.New("at a newer value")
		}
		before, _ := value.(float64)
		return before + float64(number(given[0])), nil
	}
}

func (p *playing) handled(ctx context.Context, name string, given []any, options map[string]any) (any, error) {
	var ages, held []HandleOption
	if age := options["maxAge"]; age != nil {
		ages = append(ages, MaxAge(span(age)))
	}
	if options["once"] == true {
		held = append(held, SingleUse())
	}
	rows := must(p.guard.ReferenceHandles(text(given[0]), ages...))
	states := must(NewSelfContainedHandles[any](p.guard, text(given[0]), held...))
	var named any
	if len(given) > 1 {
		named = p.world.resolved(given[1])
	}
	handle, _ := named.(string)
	var made string
	switch name {
	case "mint":
		minted, err := rows.Mint(ctx)
		if err != nil {
			return nil, err
		}
		made = minted.Handle
	case "check":
		checked, err := rows.Check(ctx, handle)
		if err != nil {
			return nil, err
		}
		made = checked.Handle
	case "seal":
		sealed, err := states.Seal(ctx, named)
		if err != nil {
			return nil, err
		}
		made = sealed.Handle
	case "renew":
		opened, err := states.Open(ctx, handle)
		if err != nil {
			return nil, err
		}
		renewed, err := states.Renew(ctx, opened, given[2])
		if err != nil {
			return nil, err
		}
		made = renewed.Handle
	case "open":
		opened, err := states.Open(ctx, handle)
		if err != nil {
			return nil, err
		}
		return map[string]any{"value": opened.Value, "generation": opened.Generation}, nil
	case "end":
		if options["selfContained"] == true {
			return "ok", states.End(ctx, handle)
		}
		return "ok", rows.End(ctx, handle)
	}
	if as := text(options["as"]); as != "" {
		p.world.handles[as] = made
	}
	return map[string]any{"handle": made}, nil
}
