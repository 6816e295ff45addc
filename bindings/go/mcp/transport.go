package sealwaxmcp

import (
	"context"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/mcp/internal/transport"
)

// A TransportOption sets up [Guard.HTTP] and [Guard.Stdio].
type TransportOption func(*transportSettings) error

type transportSettings struct {
	engine.Transport
	maxBodySize int64
}

// TransportTTL is how long a session of the transport lives: 30 days by default.
func TransportTTL(d time.Duration) TransportOption {
	return func(t *transportSettings) error { return seconds(&t.TTL, "TTL", d) }
}

// TransportIdle ends a session of the transport after that long without a message, which needs a ledger.
func TransportIdle(d time.Duration) TransportOption {
	return func(t *transportSettings) error { return seconds(&t.Idle, "idle", d) }
}

// TransportOptional serves requests without a session too.
func TransportOptional() TransportOption {
	return func(t *transportSettings) error { t.Required = false; return nil }
}

// TransportServeLost serves a request whose session is lost as one without a session, and says so in the log: the session has
// expired, its key was retired, or it is of another audience. For clients that begin no session after a 404. Another user's
// session, and one that was ended, are refused always.
func TransportServeLost() TransportOption {
	return func(t *transportSettings) error { t.OnLost = "serve"; return nil }
}

// SEP1359 makes messages over HTTP carry the session too, for clients of SEP-1359. As it specifies, a session that another
// principal presents ends, if a ledger records it: a thief of the token can end the session.
func SEP1359() TransportOption {
	return func(t *transportSettings) error { t.SEP1359 = true; return nil }
}

// MaxBodySize is the largest body of a request over HTTP: 4 MiB by default, as in the SDK.
func MaxBodySize(size int64) TransportOption {
	return func(t *transportSettings) error { t.maxBodySize = size; return nil }
}

// HTTP wraps a stateless handler of the SDK, to give clients of revisions up to 2025-11-25 their sessions. Call it after
// [Guard.Protect], and put it inside of the authentication:
//
//	handler := mcp.NewStreamableHTTPHandler(serverOf, &mcp.StreamableHTTPOptions{Stateless: true})
//	wrapped, err := guard.HTTP(handler)
//	…
//	http.Handle("/mcp", auth.RequireBearerToken(verify, nil)(wrapped))
//
// The answer to initialize has a header Mcp-Session-Id: a token that holds the negotiated session. Later requests are verified
// before the server sees them. A request without the header gets 400, unless [TransportOptional]; one whose session is refused
// gets 404. DELETE ends a session, if a ledger records it. Requests of revision 2026-07-28 pass unchanged. A stateless
// server of the earlier revisions cannot ask its client: it has no elicitation, sampling or roots.
func (g *Guard) HTTP(next http.Handler, options ...TransportOption) (http.Handler, error) {
	t, err := g.transport(engine.Transport{Required: true}, options)
	if err != nil {
		return nil, err
	}
	return t.HTTP(next), nil
}

// Stdio returns a transport over stdin and stdout with the sessions of SEP-1359, which outlive the process: a client that sends
// sessionId continues its session after a restart, because the token holds what was negotiated. Call it after [Guard.Protect],
// and pass it to [mcp.Server.Run] of one server. A ledger in memory does not outlive the process: it refuses all sessions that
// are older than itself. The options are [TransportTTL] and [TransportIdle].
func (g *Guard) Stdio(options ...TransportOption) (mcp.Transport, error) {
	return g.IO(os.Stdin, os.Stdout, options...)
}

// IO is [Guard.Stdio] over other streams.
func (g *Guard) IO(reader io.Reader, writer io.Writer, options ...TransportOption) (mcp.Transport, error) {
	t, err := g.transport(engine.Transport{SEP1359: true}, options)
	if err != nil {
		return nil, err
	}
	return t.IO(reader, writer), nil
}

// transport returns the guard around the bytes of a server.
func (g *Guard) transport(settings engine.Transport, options []TransportOption) (*transport.Transport, error) {
	t := transportSettings{settings, mcp.DefaultMaxRequestBodyBytes}
	if err := set(&t, options); err != nil {
		return nil, err
	}
	with := g.settings
	with.Transport = &t.Transport
	rules, err := engine.NewGuard(g.codec, with)
	return &transport.Transport{
		Rules: rules, MaxBodySize: t.maxBodySize, Fault: g.fault,
		Driver: func(ctx context.Context, from *mcp.RequestExtra) transport.Driver { return g.caller(ctx, from) },
		Served: func(ctx context.Context) *transport.Passed {
			if x := served(ctx); x != nil {
				return x.passed
			}
			return nil
		},
	}, err
}

// passedOf returns the message that a wrapper of this guard passed on as this one, and its caller.
func (g *Guard) passedOf(ctx context.Context, req mcp.Request) (*transport.Passed, *caller) {
	if passed := transport.PassedOf(ctx, req); passed != nil {
		if c := passed.Driver.(*caller); c.guard == g {
			return passed, c
		}
	}
	return nil, g.caller(ctx, req.GetExtra())
}
