package sealwaxmcp

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
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
	for _, one := range fallback {
		confirm.Fallback = string(one)
	}
	return confirm, nil
}

// confirms tells whether the guard confirms some calls, and the request is of a tool.
func (x *exchange) confirms() bool {
	settings := x.guard.settings
	return (len(settings.Confirm) > 0 || settings.ConfirmDestructive != nil) && strings.HasPrefix(x.method, "tools/")
}

// user returns how the user can be asked, and what was answered.
func (x *exchange) user() *engine.User {
	user, params := &engine.User{CanBeAsked: x.canBeAsked()}, x.req.GetParams()
	session, _ := x.req.GetSession().(*mcp.ServerSession)
	if own, ok := metaOf(params)[mcp.MetaKeyClientCapabilities]; ok {
		user.Capabilities, _ = json.Marshal(own)
	} else if x.outer != nil && x.outer.negotiated != nil {
		user.Capabilities = x.outer.negotiated.ClientCapabilities
	} else if session != nil && session.InitializeParams() != nil {
		user.Capabilities, _ = json.Marshal(session.InitializeParams().Capabilities)
	}
	if answers := memberOf(params, "inputResponses"); answers.IsValid() && !answers.IsZero() {
		user.Responses, _ = json.Marshal(answers.Interface())
	}
	return user
}

// canBeAsked tells whether the server can send the client a request while this one waits, which its user alone can answer.
func (x *exchange) canBeAsked() bool {
	session, ok := x.req.GetSession().(*mcp.ServerSession)
	extra := x.req.GetExtra()
	switch {
	case !ok || x.outer != nil && x.outer.on == nil:
		return false
	case extra == nil || extra.Header == nil:
		// Not over HTTP: the connection is one client's.
		return true
	case session.ID() == "":
		return false
	}
	// Nothing tells who sends an answer. The SDK keeps a session to a user by this member (streamable.go, lookupSession).
	who := x.caller.who()
	return who != nil && who.Anonymous || extra.TokenInfo != nil && extra.TokenInfo.UserID != ""
}

// drive answers the engine's questions, and returns the first step that is none.
func (x *exchange) drive(ctx context.Context, found *engine.Exchange, step *engine.Step) (*engine.Step, error) {
	for {
		next, err := x.caller.drive(ctx, found, step)
		if err != nil || next.Step != "ask" {
			return next, err
		}
		var told engine.Told
		switch next.Name {
		case "confirm":
			told = x.question(ctx, next)
		case "elicit":
			told = x.elicit(ctx, next)
		case "list_tools":
			told = x.listTools(ctx, next)
		}
		if step, err = found.Told(told); err != nil {
			return nil, err
		}
	}
}

// question returns the question that the author's function makes, or why there is none.
func (x *exchange) question(ctx context.Context, step *engine.Step) engine.Told {
	var call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var written []byte
	err := json.Unmarshal(step.Params, &call)
	if err != nil {
		return failed(err)
	}
	err = safely(func() error {
		text, err := x.guard.questions[call.Name](ctx, call.Arguments)
		if err == nil {
			written, err = host.JSON("confirm", text)
		}
		return err
	})
	if err != nil {
		return failed(err)
	}
	return engine.Told{Value: written}
}

// elicit asks the user on the connection, and returns what was answered, or why nothing was.
func (x *exchange) elicit(ctx context.Context, step *engine.Step) engine.Told {
	params := &mcp.ElicitParams{}
	session, ok := x.req.GetSession().(*mcp.ServerSession)
	if !ok || json.Unmarshal(step.Params, params) != nil {
		return engine.Told{}
	}
	// By this the question carries the session of its call (Write).
	ctx = context.WithValue(ctx, contextKey{}, x)
	var answer *mcp.ElicitResult
	err := within(ctx, step.WithinMs, func(ctx context.Context) (err error) {
		answer, err = session.Elicit(ctx, params)
		return err
	})
	if err != nil {
		return failed(err)
	}
	return engine.Answer(answer)
}

// listTools returns a page of the server's own list for this caller, or why there is none.
func (x *exchange) listTools(ctx context.Context, step *engine.Step) engine.Told {
	params := &mcp.ListToolsParams{Meta: metaOf(x.req.GetParams())}
	session, _ := x.req.GetSession().(*mcp.ServerSession)
	req := &mcp.ListToolsRequest{Session: session, Params: params, Extra: x.req.GetExtra()}
	var page []byte
	err := within(ctx, step.WithinMs, func(ctx context.Context) error {
		if step.Params != nil {
			if err := json.Unmarshal(step.Params, params); err != nil {
				return err
			}
		}
		result, err := x.next(ctx, "tools/list", req)
		if err == nil {
			page, err = json.Marshal(result)
		}
		return err
	})
	if err != nil {
		return failed(err)
	}
	return engine.Told{Value: page}
}

// withoutAnswer returns a request without the answer to the guard's question, which is none of the handler's.
func withoutAnswer(req mcp.Request) mcp.Request {
	answers := memberOf(req.GetParams(), "inputResponses")
	if !answers.IsValid() {
		return req
	}
	given, _ := answers.Interface().(mcp.InputResponseMap)
	if _, ok := given[confirmKey]; !ok {
		return req
	}
	rest := maps.Clone(given)
	delete(rest, confirmKey)
	if len(rest) == 0 {
		rest = nil
	}
	return withMemberSet(req, "inputResponses", func(member reflect.Value) { member.Set(reflect.ValueOf(rest)) })
}
