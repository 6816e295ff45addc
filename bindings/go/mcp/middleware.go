package sealwaxmcp

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// middleware stands between the wire and the handlers: it opens what comes in and seals what goes out.
func (g *Guard) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		x, err := g.arrived(ctx, method, req)
		if err != nil {
			return nil, g.internal(ctx, err)
		}
		defer x.close()
		x.next = next
		return x.serve(ctx, next)
	}
}

// arrived begins to serve a message.
func (g *Guard) arrived(ctx context.Context, method string, req mcp.Request) (*exchange, error) {
	x := &exchange{guard: g, method: method, req: req, outer: g.outerOf(ctx, req)}
	fields, err := engine.TokenFieldsOf(method)
	if err != nil {
		return nil, err
	}
	x.fields = fields
	if x.outer != nil {
		x.caller = x.outer.caller
	} else {
		x.caller = g.caller(ctx, req.GetExtra())
	}
	return x, nil
}

func (x *exchange) serve(ctx context.Context, next mcp.MethodHandler) (mcp.Result, error) {
	if x.fields != nil && hidesParam(x.req.GetParams(), x.fields.Param) {
		return nil, x.hidden(ctx, "params", x.fields.Param, x.req.GetParams())
	}
	token := x.token()
	step, err := x.admitted(ctx, token)
	if err != nil {
		return nil, x.guard.internal(ctx, err)
	}
	if step.Step != "deliver" {
		return x.replied(step)
	}
	x.delivered(step)
	req := x.req
	if token != nil {
		req = withParam(req, x.fields.Param, step.Opened)
	}
	for _, change := range step.Set {
		req = withMemberSet(req, change.Path[0], func(member reflect.Value) { put(member, change) })
	}
	if x.confirms() {
		req = withoutAnswer(req)
	}
	result, err := next(context.WithValue(ctx, contextKey{}, x), x.method, req)
	if result, err = x.answered(result, err); err != nil || result == nil {
		return result, err
	}
	if x.fields != nil && hidesMember(result, x.fields.Result) {
		return nil, x.hidden(ctx, "result", x.fields.Result, result)
	}
	if !reports(step, result) {
		return result, nil
	}
	if step, err = x.left(ctx, result, step.Whole); err != nil {
		return nil, x.guard.internal(ctx, err)
	}
	if step.Step != "respond" {
		return x.replied(step)
	}
	return changed(result, step.Set), nil
}

// hidden refuses a message whose type keeps a token where it can be neither opened nor sealed.
func (x *exchange) hidden(ctx context.Context, what, name string, of any) error {
	err := invalid("%s: expected a struct with a text that has the tag `json:\"%s\"`, found %T, which reads or writes it by itself", what, name, of)
	x.guard.reportFault(ctx, err, engine.Fault{Kind: x.fields.Kind, Method: x.method})
	return rpcError(internalError)
}

// answered returns what a handler gave, with the fixed answer where it gave the refusal of a handle.
func (x *exchange) answered(result mcp.Result, err error) (mcp.Result, error) {
	failed := err
	// The SDK makes a result of what a typed tool's handler returns as an error.
	if tool, ok := result.(*mcp.CallToolResult); ok && tool != nil && err == nil {
		failed = tool.GetError()
	}
	var refused *HandleRefused
	if failed == nil || !errors.As(failed, &refused) {
		return result, err
	}
	if isToolCall(x.req) && refused.tool != nil {
		return copied(refused.tool).(mcp.Result), nil
	}
	return nil, rpcError(refused.answer)
}

// admitted returns the engine's decision on the message.
func (x *exchange) admitted(ctx context.Context, token *string) (*engine.Step, error) {
	if x.guard.rules.Defers() {
		if token == nil && (x.fields == nil || !x.fields.NeedsCaller) {
			step := &engine.Step{Step: "deliver"}
			if x.fields != nil {
				step.Report = x.fields.Result
			}
			return step, nil
		}
		if x.caller.who() == nil {
			x.caller.identify(ctx)
		}
	}
	found, step, err := x.begins(token)
	if err != nil {
		return nil, err
	}
	return x.drive(ctx, found, step)
}

// left returns the engine's decision on a result, which it is told whole if it asks so.
func (x *exchange) left(ctx context.Context, result mcp.Result, whole bool) (*engine.Step, error) {
	found, err := x.engine()
	if err != nil {
		return nil, err
	}
	if x.guard.settings.Events {
		found.Began = time.Now()
	}
	facts := factsOf(result, x.fields)
	if whole {
		if facts.Whole, err = json.Marshal(result); err != nil {
			return nil, err
		}
	}
	step, err := found.Result(facts, x.fields)
	if err != nil {
		return nil, err
	}
	return x.caller.drive(ctx, found, step)
}

// replied returns the result of a reply, or its error; nothing where the message is dropped.
func (x *exchange) replied(step *engine.Step) (mcp.Result, error) {
	switch {
	case step.Error != nil && (step.Tool == nil || !isToolCall(x.req)):
		return nil, rpcError(step.Error)
	case step.Tool != nil:
		result, err := toolResult(step.Tool)
		if err == nil && result.NeedsInput() {
			// The SDK's type writes a content of null, which is no result of the protocol.
			return &builtinResult{document: step.Tool}, nil
		}
		return result, err
	case step.Result != nil:
		return &builtinResult{document: step.Result}, nil
	}
	return nil, nil
}

func toolResult(document json.RawMessage) (*mcp.CallToolResult, error) {
	result := &mcp.CallToolResult{}
	return result, json.Unmarshal(document, result)
}

// internal logs a failure of the guard itself, and returns what the client hears of it.
func (g *Guard) internal(ctx context.Context, err error) error {
	g.fault(ctx, err)
	return rpcError(internalError)
}

// reports tells whether the engine wants to know of a result.
func reports(step *engine.Step, result mcp.Result) bool {
	switch report := step.Report.(type) {
	case bool:
		return report
	case string:
		return textOf(result, report) != nil
	}
	return false
}

func isToolCall(req mcp.Request) bool { _, ok := req.(*mcp.CallToolRequest); return ok }

// modern is the first revision without sessions of the transport.
const modern = "2026-07-28"

// isModern follows the SDK's own rule, a comparison of texts (shared.go, validateRequestMeta). Its ProtocolVersion panics where a
// method of an author's own comes without params.
func isModern(req mcp.Request) bool {
	version, _ := metaOf(req.GetParams())[mcp.MetaKeyProtocolVersion].(string)
	return version >= modern
}
