package sealwaxmcp

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
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
	// outer is the wrapper that the message came through.
	outer *outerExchange

	mu     sync.Mutex
	x      *engine.Exchange
	closed bool
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
	name := "name"
	if x.fields != nil && x.fields.Target != "" {
		name = x.fields.Target
	}
	return textOf(x.req.GetParams(), name)
}

func (x *exchange) begins(token *string) (*engine.Exchange, *engine.Step, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.begin(token)
}

// begin begins the engine's exchange and returns its first step, under the lock.
func (x *exchange) begin(token *string) (*engine.Exchange, *engine.Step, error) {
	request := engine.Request{
		Method: x.method,
		Target: x.target(),
		Fields: x.fields,
		Token:  token,
		Caller: x.caller.who(),
		Modern: isModern(x.req),
	}
	params := x.req.GetParams()
	if x.fields != nil && x.fields.NeedsCaller {
		request.Arguments = argumentsOf(params)
	}
	if x.confirms() {
		request.User = x.user()
	}
	if x.outer != nil {
		request.WithinMs = &x.outer.withinMs
	}
	if x.guard.sessions != nil {
		if request.Session = sentSession(params); request.Session != nil {
			request.Header = sentHeader(x.req)
		}
	}
	found, step, err := x.guard.rules.Request(&request)
	if err != nil {
		return nil, nil, err
	}
	x.x = found
	return found, step, nil
}

// engine returns the engine's exchange, which may begin now; it ends with the request.
func (x *exchange) engine() (*engine.Exchange, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, invalid("ctx: expected the context of a request that is being served, found one that was answered or cancelled")
	}
	if x.x == nil {
		if _, _, err := x.begin(nil); err != nil {
			return nil, err
		}
	}
	return x.x, nil
}

// delivered keeps what was opened.
func (x *exchange) delivered(step *engine.Step) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opened, x.builtin = step.Opened, step.BuiltinResult
	if step.Session != nil {
		x.session = newSession(x, step.Session)
	}
}

// handle runs an operation on a handle.
func (x *exchange) handle(ctx context.Context, operation engine.HandleOp, value []byte) (*engine.Step, error) {
	of, err := x.engine()
	if err != nil {
		return nil, err
	}
	began := time.Time{}
	if x.guard.settings.Events {
		began = time.Now()
	}
	handling, step, err := of.Handle(operation, value)
	if err != nil {
		return nil, err
	}
	defer handling.Free()
	handling.Began = began
	if step, err = x.caller.drive(ctx, handling, step); err != nil {
		return nil, err
	}
	if step.Step == "reply" {
		return nil, x.refused(step)
	}
	return step, nil
}

// refused returns the error of a handle that was refused.
func (x *exchange) refused(step *engine.Step) error {
	refused := &HandleRefused{reason: why(step), answer: step.Error}
	if step.Tool == nil {
		return refused
	}
	tool, err := decoded(step.Tool)
	if object, ok := tool.(map[string]any); ok && isModern(x.req) {
		// The SDK gives it to what a handler returns, and keeps the member to itself.
		object["resultType"] = "complete"
	}
	var written []byte
	if err == nil {
		written, err = json.Marshal(tool)
	}
	if err == nil {
		refused.tool, err = toolResult(written)
	}
	if err != nil {
		return err
	}
	return refused
}

// close ends the request, answered or cancelled: nothing is opened or sealed for it later, though a goroutine that the handler
// left behind may still hold its context.
func (x *exchange) close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	x.opened, x.builtin, x.session, x.made, x.madeValue = nil, nil, nil, "", nil
	if x.x != nil {
		x.x.Free()
		x.x = nil
	}
}
