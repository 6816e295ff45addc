package sealwaxmcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
	"github.com/sealwax/sealwax-go/mcp/internal/transport"
)

// exchange is a guard's knowledge of the request that is being served. Handlers reach it by their context.
type exchange struct {
	guard  *Guard
	method string
	req    mcp.Request
	// next serves a message around the guard.
	next   mcp.MethodHandler
	fields *engine.TokenFields
	caller *caller
	// passed is the message as it came through a wrapper.
	passed *transport.Passed

	mu sync.Mutex
	x  *engine.Exchange
	// opened is what the guard opened for this request, never the SDK's copy of it.
	opened  *string
	builtin *string
	session *session
	// made is the last state that the handler made, and its value: the SDK calls the handler again with it for older clients.
	made      string
	madeValue []byte
}

type contextKey struct{}

// served returns the exchange of the request that a context belongs to.
func served(ctx context.Context) *exchange {
	x, _ := ctx.Value(contextKey{}).(*exchange)
	return x
}

// exchangeOf returns the exchange of a handler's context.
func (g *Guard) exchangeOf(ctx context.Context) (*exchange, error) {
	x := served(ctx)
	if x == nil || x.guard != g {
		return nil, invalid("ctx: expected the context of a request to a server that this guard protects, found another: call " +
			"guard.Protect(server) before it serves, and pass the handler's own context on")
	}
	return x, nil
}

// target returns the tool, prompt or resource that a message names.
func (x *exchange) target() *string {
	return message.Text(x.req.GetParams(), cmp.Or(x.fields.Target, "name"))
}

// begin begins the engine's exchange and returns its first step, under the lock.
func (x *exchange) begin(token *string) (*engine.Step, error) {
	request := engine.Request{
		Method: x.method,
		Target: x.target(),
		Fields: x.fields,
		Token:  token,
		Caller: x.caller.who(),
		Modern: message.IsModern(x.req),
	}
	params := x.req.GetParams()
	if x.fields.NeedsCaller {
		request.Arguments = message.JSON(params, "arguments")
	}
	if x.confirms() {
		request.User = x.user()
	}
	if x.passed != nil {
		request.WithinMs = &x.passed.Step.WithinMs
	}
	if x.guard.settings.Sessions != nil {
		request.Session = message.Session(params)
		if extra := x.req.GetExtra(); request.Session != nil && extra != nil {
			request.Header = message.Header(extra.Header, message.SessionHeader)
		}
	}
	found, step, err := x.guard.rules.Request(&request)
	if err == nil {
		x.x = found
	}
	return step, err
}

// engine returns the engine's exchange, which may begin now; it ends with the request.
func (x *exchange) engine() (*engine.Exchange, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.x == nil {
		if _, err := x.begin(nil); err != nil {
			return nil, err
		}
	}
	if x.x.Freed() {
		return nil, invalid("ctx: expected the context of a request that is being served, found one that was answered or cancelled")
	}
	return x.x, nil
}

// serve serves the message by a handler.
func (x *exchange) serve(ctx context.Context) (mcp.Result, error) {
	if message.HidesParam(x.req.GetParams(), x.fields.Param) {
		return nil, x.hidden(ctx, "params", x.fields.Param, x.req.GetParams())
	}
	token := message.Text(x.req.GetParams(), x.fields.Param)
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
		req = message.WithText(req, x.fields.Param, step.Opened)
	}
	req = message.WithChanges(req, step.Set)
	if x.confirms() {
		req = message.WithoutResponse(req, confirmKey)
	}
	result, err := x.next(x.within(ctx), x.method, req)
	if result, err = x.answered(result, err); err != nil || result == nil {
		return result, err
	}
	if message.HidesMember(result, x.fields.Result) {
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
	if result, err = message.Changed(result, step.Set, x.req); err != nil {
		return nil, x.guard.internal(ctx, err)
	}
	return result, nil
}

// within returns the context of the handler.
func (x *exchange) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, contextKey{}, x)
}

// hidden refuses a message whose type keeps a token where it can be neither opened nor sealed.
func (x *exchange) hidden(ctx context.Context, what, name string, of any) error {
	err := invalid("%s: expected a struct with a text that has the tag `json:\"%s\"`, found %T, which reads or writes it by itself", what, name, of)
	x.guard.reportFault(ctx, err, engine.Fault{Kind: x.fields.Kind, Method: x.method})
	return errInternal
}

// admitted returns the engine's decision on the message.
func (x *exchange) admitted(ctx context.Context, token *string) (*engine.Step, error) {
	if x.guard.rules.Defers() {
		if token == nil && !x.fields.NeedsCaller {
			return &engine.Step{Step: "deliver", Report: x.fields.Result}, nil
		}
		if x.caller.who() == nil {
			x.caller.identify(ctx)
		}
	}
	x.mu.Lock()
	step, err := x.begin(token)
	x.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return x.drive(ctx, step)
}

// delivered keeps what was opened.
func (x *exchange) delivered(step *engine.Step) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opened, x.builtin = step.Opened, step.BuiltinResult
	if step.Session != nil {
		x.session = &session{exchange: x, opened: step.Session}
	}
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
	if message.IsToolCall(x.req) && refused.tool != nil {
		return message.CompleteResultOf(refused.tool, x.req)
	}
	return nil, rpcError(refused.answer)
}

// reports tells whether the engine wants to know of a result.
func reports(step *engine.Step, result mcp.Result) bool {
	switch report := step.Report.(type) {
	case bool:
		return report
	case string:
		return message.Text(result, report) != nil
	}
	return false
}

// left returns the engine's decision on a result, which it is told whole if it asks so.
func (x *exchange) left(ctx context.Context, result mcp.Result, whole bool) (*engine.Step, error) {
	found, err := x.engine()
	if err != nil {
		return nil, err
	}
	found.Began = time.Now()
	facts := message.Facts(result, x.fields)
	if whole {
		if facts.Whole, err = json.Marshal(result); err != nil {
			return nil, err
		}
	}
	step, err := found.Result(facts)
	if err != nil {
		return nil, err
	}
	return x.caller.Drive(ctx, found, step)
}

// replied returns the result of a reply, or its error; nothing where the message is dropped.
func (x *exchange) replied(step *engine.Step) (mcp.Result, error) {
	switch {
	case step.Error != nil && (step.Tool == nil || !message.IsToolCall(x.req)):
		return nil, rpcError(step.Error)
	case step.Tool != nil:
		return message.ResultOf(step.Tool)
	case step.Result != nil:
		return message.ResultOf(step.Result)
	}
	return nil, nil
}

// handle runs an operation on a handle.
func (x *exchange) handle(ctx context.Context, operation engine.HandleOp, value []byte) (*engine.Step, error) {
	of, err := x.engine()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	handling, step, err := of.Handle(operation, value)
	if err != nil {
		return nil, err
	}
	defer handling.Free()
	handling.Began = began
	if step, err = x.caller.Drive(ctx, handling, step); err != nil {
		return nil, err
	}
	if step.Step == "reply" {
		return nil, &HandleRefused{reason: why(step), answer: step.Error, tool: step.Tool}
	}
	return step, nil
}

// close ends the request, answered or cancelled: nothing is opened or sealed for it later, though a goroutine that the handler
// left behind may still hold its context.
func (x *exchange) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opened, x.builtin, x.session, x.made, x.madeValue = nil, nil, nil, "", nil
	if x.x == nil {
		// None begins from now on.
		x.x = &engine.Exchange{}
	}
	x.x.Free()
}
