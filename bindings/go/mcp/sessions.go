package sealwaxmcp

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
)

// Sessions are the data-layer sessions of a guard: one value each, which the client keeps and only the server reads.
//
// Clients create them with sessions/create, and delete them with sessions/delete if the guard has a ledger. A request whose
// session is not valid is refused, also if its handler does not use the session. Lists never depend on a session: the handler of
// a list gets none.
type Sessions[T any] struct{ guard *Guard }

// Initial returns the first value of a new session. from is that of the request that creates it.
type Initial[T any] func(ctx context.Context, from *mcp.RequestExtra) (T, error)

// A SessionsOption sets up [Sessions].
type SessionsOption func(*sessionSettings) error

type sessionSettings struct {
	engine.Sessions
	required engine.Required
}

// SessionTTL is after how long without a write a session ends: 24 hours by default.
func SessionTTL(d time.Duration) SessionsOption {
	return func(s *sessionSettings) error { return seconds(&s.TTL, "session TTL", d) }
}

// SessionNoExpiry ends a session only at the codec's maximum age of sessions.
func SessionNoExpiry() SessionsOption {
	return func(s *sessionSettings) error { s.NoExpiry = true; return nil }
}

// HeldByServer makes a session its id alone: the server keeps its value, by the ulid.
func HeldByServer() SessionsOption {
	return func(s *sessionSettings) error { s.HeldByServer = true; return nil }
}

// RequiredTools names tools that need a session.
func RequiredTools(tools ...string) SessionsOption {
	return func(s *sessionSettings) error { s.required.Tools = append(s.required.Tools, tools...); return nil }
}

// RequiredMethods names methods that need a session, such as resources/read.
func RequiredMethods(methods ...string) SessionsOption {
	return func(s *sessionSettings) error {
		s.required.Methods = append(s.required.Methods, methods...)
		return nil
	}
}

// Required says that every request needs a session, but initialize, ping, server/discover, lists, and sessions/create.
func Required() SessionsOption {
	return func(s *sessionSettings) error { s.Required = true; return nil }
}

// NewSessions serves data-layer sessions whose value is a T, as JSON. Call it once, before [Guard.Protect]. initial is nil with
// [HeldByServer].
func NewSessions[T any](g *Guard, initial Initial[T], options ...SessionsOption) (*Sessions[T], error) {
	var settings sessionSettings
	if err := set(&settings, options); err != nil {
		return nil, err
	}
	named := len(settings.required.Tools)+len(settings.required.Methods) > 0
	switch {
	case named && settings.Required != nil:
		return nil, invalid("required: expected all requests or some names, found both")
	case g.protects.Load():
		return nil, invalid("sessions: expected to be made before guard.Protect(server)")
	case g.settings.Sessions != nil:
		return nil, invalid("sessions: expected to be made once, found a second time")
	case settings.HeldByServer == (initial != nil):
		return nil, invalid("initial: expected a function that gives the first value of a session, or none with HeldByServer, " +
			"for nothing would hold it")
	}
	if named {
		settings.Required = settings.required
	}
	with := g.settings
	with.Sessions = &settings.Sessions
	rules, err := engine.NewGuard(g.codec, with)
	if err != nil {
		return nil, err
	}
	g.settings, g.rules = with, rules
	g.initial = func(ctx context.Context, from *mcp.RequestExtra) (json.RawMessage, error) {
		value, err := initial(ctx, from)
		if err != nil {
			return nil, err
		}
		return host.JSON("initial", value)
	}
	return &Sessions[T]{g}, nil
}

// sessionParams are those of the methods of sessions.
type sessionParams struct{ mcp.ParamsBase }

// serveSessions is the SDK's handler of the methods of sessions.
func (g *Guard) serveSessions(ctx context.Context, _ *mcp.ServerSession, _ *sessionParams) (*message.Result, error) {
	x, err := g.exchangeOf(ctx)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	document := "{}"
	if x.builtin != nil {
		document = *x.builtin
	}
	return message.CompleteResultOf([]byte(document), x.req)
}
