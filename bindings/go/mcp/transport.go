package sealwaxmcp

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// A TransportOption sets up [Guard.HTTP] and [Guard.Stdio].
type TransportOption func(*transport) error

// TransportTTL is how long a session of the transport lives: 30 days by default.
func TransportTTL(d time.Duration) TransportOption {
	return func(t *transport) (err error) { t.settings.TTL, err = seconds("TTL", d); return err }
}

// TransportIdle ends a session of the transport after that long without a message, which needs a ledger.
func TransportIdle(d time.Duration) TransportOption {
	return func(t *transport) (err error) { t.settings.Idle, err = seconds("idle", d); return err }
}

// TransportOptional serves requests without a session too.
func TransportOptional() TransportOption {
	return func(t *transport) error { t.settings.Required = false; return nil }
}

// TransportServeLost serves a request whose session is lost as one without a session, and says so in the log: the session has
// expired, its key was retired, or it is of another audience. For clients that begin no session after a 404. Another user's
// session, and one that was ended, are refused always.
func TransportServeLost() TransportOption {
	return func(t *transport) error { t.settings.OnLost = "serve"; return nil }
}

// SEP1359 makes messages over HTTP carry the session too, for clients of SEP-1359. As it specifies, a session that another
// principal presents ends, if a ledger records it: a thief of the token can end the session.
func SEP1359() TransportOption {
	return func(t *transport) error { t.settings.SEP1359 = true; return nil }
}

// MaxBodySize is the largest body of a request over HTTP: 4 MiB by default, as in the SDK.
func MaxBodySize(size int64) TransportOption {
	return func(t *transport) error { t.maxBodySize = size; return nil }
}

// transport has a guard's rules for sessions of the transport.
type transport struct {
	guard       *Guard
	settings    engine.Transport
	rules       *engine.Guard
	maxBodySize int64
}

func (g *Guard) transport(settings engine.Transport, options []TransportOption) (*transport, error) {
	t := &transport{guard: g, settings: settings, maxBodySize: mcp.DefaultMaxRequestBodyBytes}
	if err := set(t, options); err != nil {
		return nil, err
	}
	with := g.settings
	with.Transport = &t.settings
	rules, err := g.engine(with)
	t.rules = rules
	return t, err
}

// outerExchange is what a wrapper knows of the message that it passes on.
type outerExchange struct {
	guard  *Guard
	caller *caller
	// on is the conversation that it came on; nil over HTTP.
	on *conversation
	// id is that of a request on stdio, as JSON.
	id         string
	withinMs   uint64
	negotiated *Negotiated
}

func (t *transport) outer(ctx context.Context, from *mcp.RequestExtra) *outerExchange {
	return &outerExchange{guard: t.guard, caller: t.guard.caller(ctx, from)}
}

// deliver keeps what the handlers are told.
func (o *outerExchange) deliver(step *engine.Step) {
	o.withinMs, o.negotiated = step.WithinMs, negotiatedOf(step)
}

// Negotiated is what client and server settled when the session of the transport began.
type Negotiated struct {
	ProtocolVersion    string          `json:"protocolVersion"`
	ClientCapabilities json.RawMessage `json:"clientCapabilities"`
	ClientInfo         json.RawMessage `json:"clientInfo"`
	ServerCapabilities json.RawMessage `json:"serverCapabilities"`
	// ID is that of the session's token, for logs.
	ID string `json:"-"`
	// ExpiresAt is the session's end; zero for never.
	ExpiresAt time.Time `json:"-"`
}

func negotiatedOf(step *engine.Step) *Negotiated {
	if step.Negotiated == nil {
		return nil
	}
	settled := &Negotiated{ID: step.ID}
	if json.Unmarshal([]byte(*step.Negotiated), settled) != nil {
		return nil
	}
	var until int64
	if json.Unmarshal(step.ExpiresAt, &until) == nil && until != 0 {
		settled.ExpiresAt = time.Unix(until, 0)
	}
	return settled
}

// NegotiatedOf returns what was settled when the session of a request's transport began: a stateless server of the SDK does not
// know it. It is nil if the request has no such session, and on stdio, where the SDK knows it.
func NegotiatedOf(ctx context.Context) *Negotiated {
	if x := served(ctx); x != nil && x.outer != nil && x.outer.on == nil {
		return x.outer.negotiated
	}
	return nil
}

// SessionID returns the id of a request's session, to key rows of your own: verified, and the same for the session's whole life.
// It is that of a data-layer session, or of Mcp-Session-Id and SEP-1359 behind the guard's wrappers; empty without one.
func SessionID(ctx context.Context) string {
	x := served(ctx)
	switch {
	case x == nil:
		return ""
	case x.ofSession() != nil:
		return x.ofSession().opened.ULID
	case x.outer != nil && x.outer.negotiated != nil:
		return x.outer.negotiated.ID
	}
	return ""
}

// outerExchanges has the wrapper of each message on stdio, by what the SDK passes on with it: an id that a client chose would not
// do. The SDK may refuse a message before the guard sees it, so an entry goes with its key.
type outerExchanges struct{ by sync.Map }

func (e *outerExchanges) put(o *outerExchange) *mcp.RequestExtra {
	extra := &mcp.RequestExtra{}
	key := weak.Make(extra)
	e.by.Store(key, o)
	runtime.AddCleanup(extra, func(key weak.Pointer[mcp.RequestExtra]) { e.by.Delete(key) }, key)
	return extra
}

type outerKey struct{}

// outerOf returns the wrapper that a message came through, if that is of this guard.
func (g *Guard) outerOf(ctx context.Context, req mcp.Request) *outerExchange {
	if o, ok := ctx.Value(outerKey{}).(*outerExchange); ok && o.guard == g {
		return o
	}
	if extra := req.GetExtra(); extra != nil {
		if o, ok := g.outer.by.Load(weak.Make(extra)); ok {
			return o.(*outerExchange)
		}
	}
	return nil
}
