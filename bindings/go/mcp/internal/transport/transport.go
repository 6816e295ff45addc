// Package transport hands the bytes of HTTP and of stdio to the engine, around the SDK.
package transport

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// Transport is a guard around the bytes of a server.
type Transport struct {
	// Rules are those of the guard with sessions of the transport.
	Rules       *engine.Guard
	MaxBodySize int64
	// Driver begins to serve a message.
	Driver func(ctx context.Context, from *mcp.RequestExtra) Driver
	// Served returns the message whose handler has a context; nil for no such message.
	Served func(ctx context.Context) *Passed
	// Fault reports that the guard itself failed.
	Fault func(ctx context.Context, err error)
}

// Driver answers what the engine asks about a message.
type Driver interface {
	// Drive returns the first step that asks for nothing that it knows.
	Drive(ctx context.Context, x *engine.Exchange, step *engine.Step) (*engine.Step, error)
}

// Passed is a message that a wrapper passed on, as the handlers find it.
type Passed struct {
	Driver Driver
	// Step is the one that delivers it.
	Step *engine.Step
	// on is the conversation that it came on; nil over HTTP.
	on *conversation
	// x is the engine's exchange of its line.
	x *engine.Exchange
	// id is that of a request on stdio, as JSON.
	id string
	// session is the SDK's, which serves a request over HTTP alone.
	session atomic.Pointer[mcp.ServerSession]
}

// OverHTTP tells that it came over HTTP.
func (p *Passed) OverHTTP() bool { return p.on == nil }

type contextKey struct{}

// lines has the messages that came on stdio, by what the SDK passes on with each: an id that a client chose would not do. The SDK
// may refuse a message before the guard sees it, so an entry goes with its key.
var lines sync.Map

// extra returns what the SDK passes on with a message.
func (p *Passed) extra() *mcp.RequestExtra {
	extra := &mcp.RequestExtra{}
	key := weak.Make(extra)
	lines.Store(key, p)
	runtime.AddCleanup(extra, func(key weak.Pointer[mcp.RequestExtra]) { lines.Delete(key) }, key)
	return extra
}

// PassedOf returns the message that a wrapper passed on as this one; nil if there is no wrapper.
func PassedOf(ctx context.Context, req mcp.Request) *Passed {
	extra := req.GetExtra()
	if extra == nil {
		return nil
	}
	if found, ok := lines.Load(weak.Make(extra)); ok {
		return found.(*Passed)
	}
	// A handler may connect another server in its context, whose messages are not this one, over HTTP neither.
	found, _ := ctx.Value(contextKey{}).(*Passed)
	session, _ := req.GetSession().(*mcp.ServerSession)
	if found == nil || extra.Header == nil || !found.session.CompareAndSwap(nil, session) && found.session.Load() != session {
		return nil
	}
	return found
}
