package sealwaxmcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/ledger"
)

// A Guard seals what leaves an MCP server for its clients, and opens and checks what comes back. Goroutines may share it, and
// one guard can protect several servers.
type Guard struct {
	codec      *sealwax.Codec
	principals Principals
	ledger     ledger.Ledger
	onRefused  []func(Refusal)
	onEvent    []func(TokenEvent)
	logger     *slog.Logger

	// questions are the functions of [WithConfirmFunc], by the tools' names.
	questions map[string]questionFunc

	settings engine.Settings
	// rules are those of the messages at the handlers; data-layer sessions replace them.
	rules *engine.Guard
	// initial gives the first value of a data-layer session.
	initial func(ctx context.Context, from *mcp.RequestExtra) (json.RawMessage, error)
	// protects tells that the settings are fixed.
	protects atomic.Bool
	warned   sync.Once
}

// New makes a guard. codec has the keys and the name of the service. principals tells who sends a request: [FromToken], a
// [PrincipalFunc], or [Anonymous] by that name for a server without authentication; there is no default.
func New(codec *sealwax.Codec, principals Principals, options ...Option) (*Guard, error) {
	if codec == nil {
		return nil, invalid("codec: expected a codec, found nil")
	}
	if principals == nil {
		return nil, invalid("principals: expected a function, or Anonymous by that name, found nil")
	}
	g := &Guard{codec: codec, principals: principals}
	if err := set(g, options); err != nil {
		return nil, err
	}
	g.settings.Events = len(g.onEvent) > 0
	var err error
	g.rules, err = engine.NewGuard(codec, g.settings)
	return g, err
}

// Revoke signs a principal out everywhere: all tokens and sessions that began until now are refused. It needs a ledger, which
// remembers this for 400 days, longer than anything lives, unless [RetainFor] says less. A principal who signs in again within
// the ledger's clock tolerance has to be signed out once more. The error is [ErrLedgerUnavailable] if the store may not have
// recorded it.
func (g *Guard) Revoke(ctx context.Context, principal Principal, options ...RevokeOption) error {
	var settings revocation
	if err := set(&settings, options); err != nil {
		return err
	}
	who, err := parts(principal)
	if err != nil {
		return err
	}
	begin := func() (*engine.Exchange, *engine.Step, error) { return g.rules.Revoke(who, settings.retain) }
	step, err := g.caller(ctx, nil).finish(ctx, begin)
	if err != nil {
		return err
	}
	if step.Step != "done" {
		return why(step)
	}
	return nil
}
