package sealwaxmcp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
)

// questionFunc makes the question of a confirmation of a call's arguments.
type questionFunc = func(ctx context.Context, arguments json.RawMessage) (string, error)

// confirmKey is that of the guard's question among those of a result that requires input.
const confirmKey = "io.github.sealwax/confirm"

func (g *Guard) confirm(tool string, confirm engine.Confirm, fallback []Fallback) error {
	if g.settings.Confirm == nil {
		g.settings.Confirm = map[string]engine.Confirm{}
	}
	with, err := confirmed(tool, confirm, fallback)
	g.settings.Confirm[tool] = with
	return err
}

func confirmed(tool string, confirm engine.Confirm, fallback []Fallback) (engine.Confirm, error) {
	if len(fallback) > 1 {
		return confirm, invalid("confirm %q: expected one fallback, found %d", tool, len(fallback))
	}
	confirm.Fallback = string(cmp.Or(fallback...))
	return confirm, nil
}

// confirms tells whether the guard confirms some calls, and the request is of a tool.
func (x *exchange) confirms() bool {
	settings := x.guard.settings
	return (len(settings.Confirm) > 0 || settings.ConfirmDestructive != nil) && strings.HasPrefix(x.method, "tools/")
}

// client returns the SDK's session with the client; the messages that a server receives have no other.
func (x *exchange) client() *mcp.ServerSession { return x.req.GetSession().(*mcp.ServerSession) }

// user returns how the user can be asked, and what was answered.
func (x *exchange) user() *engine.User {
	params := x.req.GetParams()
	user := &engine.User{CanBeAsked: x.canBeAsked(), Responses: message.JSON(params, "inputResponses")}
	if own, ok := message.Meta(params)[mcp.MetaKeyClientCapabilities]; ok {
		user.Capabilities, _ = json.Marshal(own)
	} else if settled := x.negotiated(); settled != nil {
		user.Capabilities = settled.ClientCapabilities
	} else if begun := x.client().InitializeParams(); begun != nil {
		user.Capabilities, _ = json.Marshal(begun.Capabilities)
	}
	return user
}

// canBeAsked tells whether the server can send the client a request while this one waits, which its user alone can answer.
func (x *exchange) canBeAsked() bool {
	extra := x.req.GetExtra()
	switch {
	case x.passed != nil && x.passed.OverHTTP():
		return false
	case extra == nil || extra.Header == nil:
		// Not over HTTP: the connection is one client's.
		return true
	case x.client().ID() == "":
		return false
	}
	// Nothing tells who sends an answer. The SDK keeps a session to a user by this member (streamable.go, lookupSession).
	who := x.caller.who()
	return who != nil && who.Anonymous || extra.TokenInfo != nil && extra.TokenInfo.UserID != ""
}

// drive answers the engine's questions, and returns the first step that is none.
func (x *exchange) drive(ctx context.Context, step *engine.Step) (*engine.Step, error) {
	for {
		next, err := x.caller.Drive(ctx, x.x, step)
		if err != nil || next.Step != "ask" {
			return next, err
		}
		var answer engine.Told
		switch next.Name {
		case "confirm":
			answer = told(x.question(ctx, next.Params))
		case "elicit":
			answer = told(x.elicit(ctx, next))
		case "list_tools":
			answer = told(x.listTools(ctx, next))
		}
		if step, err = x.x.Told(answer); err != nil {
			return nil, err
		}
	}
}

// question returns the question that the author's function makes for a call.
func (x *exchange) question(ctx context.Context, params json.RawMessage) (json.RawMessage, error) {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(params, &call); err != nil {
		return nil, err
	}
	text, err := safely(func() (string, error) { return x.guard.questions[call.Name](ctx, call.Arguments) })
	if err != nil {
		return nil, err
	}
	return host.JSON("confirm", text)
}

// elicit asks the user on the connection, and returns what was answered.
func (x *exchange) elicit(ctx context.Context, step *engine.Step) (*mcp.ElicitResult, error) {
	params := &mcp.ElicitParams{}
	if err := json.Unmarshal(step.Params, params); err != nil {
		return nil, err
	}
	// By this the question carries the session of its call (Write).
	return within(x.within(ctx), step.WithinMs, func(ctx context.Context) (*mcp.ElicitResult, error) {
		return x.client().Elicit(ctx, params)
	})
}

// listTools returns a page of the server's own list for this caller.
func (x *exchange) listTools(ctx context.Context, step *engine.Step) (json.RawMessage, error) {
	params := &mcp.ListToolsParams{Meta: message.Meta(x.req.GetParams())}
	if step.Params != nil {
		if err := json.Unmarshal(step.Params, params); err != nil {
			return nil, err
		}
	}
	req := &mcp.ListToolsRequest{Session: x.client(), Params: params, Extra: x.req.GetExtra()}
	return within(ctx, step.WithinMs, func(ctx context.Context) (json.RawMessage, error) {
		result, err := x.next(ctx, "tools/list", req)
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	})
}
