package sealwaxmcp

import (
	"context"
	"log/slog"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
)

// Principal is an authenticated caller.
type Principal = sealwax.Principal

// Principals tells who sends a request.
type Principals interface {
	// Principal is called at most once for a request. from has the verified token and the headers; it is never nil, and on
	// stdio it is empty. The zero Principal is nobody: the request is refused as unauthenticated. An error is the server's.
	Principal(ctx context.Context, from *mcp.RequestExtra) (Principal, error)
}

// A PrincipalFunc is a function as [Principals].
type PrincipalFunc func(ctx context.Context, from *mcp.RequestExtra) (Principal, error)

// Principal calls the function.
func (f PrincipalFunc) Principal(ctx context.Context, from *mcp.RequestExtra) (Principal, error) {
	return f(ctx, from)
}

// Anonymous is for a server without authentication: anyone who holds a token can use it. A request of an authenticated user is
// served, and warned of once.
var Anonymous Principals = anonymous{}

type anonymous struct{}

func (anonymous) Principal(context.Context, *mcp.RequestExtra) (Principal, error) {
	return Principal{}, invalid("Anonymous: expected to be passed as it is, found it wrapped")
}

// FromToken takes the claims that the verifier of the SDK's bearer tokens put into TokenInfo.Extra: iss and sub, which are
// required, and client_id, or else azp. If there is no iss or no sub, TokenInfo.UserID is the subject; the issuer has to be
// there, because a subject is unique only within its issuer (RFC 7519 §4.1.2). A request without a token is unauthenticated.
var FromToken Principals = PrincipalFunc(fromToken)

func fromToken(_ context.Context, from *mcp.RequestExtra) (Principal, error) {
	if from.TokenInfo == nil {
		return Principal{}, nil
	}
	// The other claims do not count, and need not be JSON.
	claims := map[string]any{}
	for _, name := range []string{"iss", "sub", "client_id", "azp"} {
		if claim, ok := from.TokenInfo.Extra[name]; ok {
			claims[name] = claim
		}
	}
	if _, ok := claims["sub"]; !ok && from.TokenInfo.UserID != "" {
		claims["sub"] = from.TokenInfo.UserID
	}
	return sealwax.PrincipalFromClaims(claims)
}

// parts returns a principal as the engine takes it.
func parts(p Principal) (*engine.Principal, error) {
	made := host.PrincipalOf(p)
	if _, err := host.JSON("principal", made); err != nil {
		return nil, err
	}
	return &made, nil
}

// principalOf returns a principal of its parts, of which none may be there.
func principalOf(parts engine.Principal) Principal { return host.NewPrincipal(parts).(Principal) }

// warnOfToken says once that tokens are anybody's though users are authenticated.
func (g *Guard) warnOfToken(ctx context.Context, token *auth.TokenInfo) {
	if token == nil {
		return
	}
	g.warned.Do(func() {
		g.say(ctx, slog.LevelWarn, "sealwax: principals: expected a function, found Anonymous and a request of an "+
			"authenticated user: any user who gets hold of another's token can use it. Pass sealwaxmcp.FromToken, or a function "+
			"of your own")
	})
}
