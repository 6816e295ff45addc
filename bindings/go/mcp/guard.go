package sealwaxmcp

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

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
	rules    *engine.Guard
	sessions *sessionMethods
	// protects tells that the settings are fixed.
	protects atomic.Bool
	warned   sync.Once
	outer    outerExchanges
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
	rules, err := g.engine(g.settings)
	g.rules = rules
	return g, err
}

func (g *Guard) engine(settings engine.Settings) (*engine.Guard, error) {
	return engine.NewGuard(g.codec, settings)
}

// Protect installs the guard in a server, before it serves. It has to be the outermost middleware, so add your own before:
// they and the handlers see what was opened, and the guard sees what they return.
func (g *Guard) Protect(server *mcp.Server) error {
	if server == nil {
		return invalid("server: expected a server, found nil")
	}
	if err := protectOnce(server); err != nil {
		return err
	}
	g.protects.Store(true)
	if g.sessions != nil {
		if err := g.sessions.install(server); err != nil {
			return err
		}
	}
	server.AddReceivingMiddleware(g.middleware)
	return nil
}

// protected has the servers that have a guard.
var protected sync.Map

// protectOnce fails for a server that has a guard: two would seal what the other one sealed.
func protectOnce(server *mcp.Server) error {
	key := weak.Make(server)
	if _, twice := protected.LoadOrStore(key, true); twice {
		return invalid("server: expected one without a guard, found one: protect it once")
	}
	runtime.AddCleanup(server, func(key weak.Pointer[mcp.Server]) { protected.Delete(key) }, key)
	return nil
}

// Revoke signs a principal out everywhere: all tokens and sessions that began until now are refused. It needs a ledger, which
// remembers this for 400 days, longer than anything lives, unless [RetainFor] says less. A principal who signs in again within
// the ledger's clock tolerance has to be signed out once more. The error is [ErrLedgerUnavailable] if the store may not have
// recorded it.
func (g *Guard) Revoke(ctx context.Context, principal Principal, options ...RevokeOption) error {
	var retain *int64
	if err := set(&retain, options); err != nil {
		return err
	}
	who, err := parts(principal)
	if err != nil {
		return err
	}
	begin := func() (*engine.Exchange, *engine.Step, error) { return g.rules.Revoke(who, retain) }
	step, err := g.caller(ctx, nil).finish(ctx, begin)
	if err != nil {
		return err
	}
	if step.Step != "done" {
		return why(step)
	}
	return nil
}
