package sealwaxmcp

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

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
	if g.settings.Sessions != nil {
		for _, method := range []string{"sessions/create", "sessions/delete"} {
			if err := mcp.AddReceivingCustomMethod(server, method, g.serveSessions); err != nil {
				return err
			}
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

// middleware stands between the wire and the handlers: it opens what comes in and seals what goes out.
func (g *Guard) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		fields, err := engine.TokenFieldsOf(method)
		if err != nil {
			return nil, g.internal(ctx, err)
		}
		x := &exchange{guard: g, method: method, req: req, next: next, fields: fields}
		x.passed, x.caller = g.passedOf(ctx, req)
		defer x.close()
		return x.serve(ctx)
	}
}

// internal logs a failure of the guard itself, and returns what the client hears of it.
func (g *Guard) internal(ctx context.Context, err error) error {
	g.fault(ctx, err)
	return errInternal
}
