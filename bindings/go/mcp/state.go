package sealwaxmcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
)

// State seals a value, as JSON, for the RequestState of a result that asks for input: the token tells nothing wherever it is
// shown. It fails in a request that cannot carry a requestState, such as a list, and for a value over the codec's payload limit.
func (g *Guard) State(ctx context.Context, value any) (string, error) {
	x, err := g.exchangeOf(ctx)
	if err != nil {
		return "", err
	}
	if err := x.carriesState(); err != nil {
		return "", err
	}
	written, err := host.JSON("state", value)
	if err != nil {
		return "", err
	}
	found, err := x.engine()
	if err != nil {
		return "", err
	}
	token, err := found.SealState(written)
	if err != nil {
		fault := engine.Fault{Kind: x.fields.Kind, Method: x.method, Target: x.target(), Principal: x.caller.who()}
		g.reportFault(ctx, err, fault)
		return "", err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.made, x.madeValue = token, written
	return token, nil
}

// IdempotencyKey returns a key for an API that does a thing once for each, such as in the header Idempotency-Key: 32 letters and
// digits, the same at every retry of a request, different for every user, confirmation and state. A call without a confirmation
// or a requestState has the same key whenever it is made again with the same arguments. It fails in a request that cannot carry
// a requestState.
func (g *Guard) IdempotencyKey(ctx context.Context) (string, error) {
	x, err := g.exchangeOf(ctx)
	if err != nil {
		return "", err
	}
	found, err := x.engine()
	if err != nil {
		return "", err
	}
	return found.IdempotencyKey()
}

// Opened returns the value of [Guard.State] from the round before; false in the first. A state that is a text of your own is
// in the request's params.
//
// For clients of revisions before 2026-07-28, the SDK asks for the input by itself and calls the handler again, within one
// request: then this is what the handler has just sealed.
func Opened[T any](ctx context.Context, req mcp.Request) (value T, ok bool, err error) {
	x := served(ctx)
	if x == nil || req == nil || req.GetSession() != x.req.GetSession() {
		return value, false, invalid("ctx: expected the context of a request to a server that a guard protects, and that request, found others")
	}
	if err := x.carriesState(); err != nil {
		return value, false, err
	}
	written := x.state(req)
	if written == nil {
		return value, false, nil
	}
	if err := json.Unmarshal(written, &value); err != nil {
		return value, false, invalid("state: expected a %T, found another value", value)
	}
	return value, true, nil
}

// state returns what the guard opened, or sealed for the call before in this request. A text that is neither is the author's.
func (x *exchange) state(req mcp.Request) []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.made != "" {
		if text := message.Text(req.GetParams(), x.fields.Param); text != nil && *text == x.made {
			return x.madeValue
		}
	}
	if x.opened == nil {
		return nil
	}
	return []byte(*x.opened)
}

func (x *exchange) carriesState() error {
	if x.fields.Kind != "request-state" {
		return invalid("ctx: expected a request that carries a requestState, as those of tools, prompts and resources do, found another")
	}
	return nil
}
