// Package serve has what the examples share: a guard by the environment, and a server on stdio or HTTP.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/redis/go-redis/v9"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger/goredis"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// Guard returns the guard of a service, by the environment: SEALWAX_KEYS or SEALWAX_KEYS_FILE, SEALWAX_LEDGER, and whether there are
// users.
func Guard(audience string) (*sealwaxmcp.Guard, error) {
	codec, err := sealwax.FromEnv(audience)
	if err != nil {
		return nil, err
	}
	users := sealwaxmcp.Anonymous
	if os.Getenv("NOTES_JWT_SECRET") != "" && os.Getenv("PORT") != "" {
		users = sealwaxmcp.FromToken
	}
	url := os.Getenv("SEALWAX_LEDGER")
	if url == "" {
		return sealwaxmcp.New(codec, users)
	}
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	store, err := goredis.New(redis.NewClient(options))
	if err != nil {
		return nil, err
	}
	return sealwaxmcp.New(codec, users, sealwaxmcp.WithLedger(store))
}

// Wrap puts something around the endpoint, such as [sealwaxmcp.Guard.HTTP].
type Wrap func(http.Handler) (http.Handler, error)

// Run serves HTTP if PORT is set, or else stdio.
func Run(server *mcp.Server, audience string, wrap Wrap) error {
	if os.Getenv("PORT") == "" {
		return server.Run(context.Background(), &mcp.StdioTransport{})
	}
	// Stateless, for any replica serves any request.
	options := &mcp.StreamableHTTPOptions{Stateless: true}
	var handler http.Handler = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, options)
	handler, err := wrap(handler)
	if err != nil {
		return err
	}
	if secret := os.Getenv("NOTES_JWT_SECRET"); secret != "" {
		handler = auth.RequireBearerToken(verifier(audience, secret), nil)(handler)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	listening, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "listening on http://%s/mcp\n", listening.Addr())
	serving := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return serving.Serve(listening)
}

// verifier verifies the token of a request; the SDK answers 401 to an invalid one.
func verifier(audience, secret string) auth.TokenVerifier {
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience(audience), jwt.WithExpirationRequired(),
	)
	return func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		claims := jwt.MapClaims{}
		if _, err := parser.ParseWithClaims(token, claims, func(*jwt.Token) (any, error) { return []byte(secret), nil }); err != nil {
			return nil, errors.Join(auth.ErrInvalidToken, err)
		}
		until, err := claims.GetExpirationTime()
		if err != nil {
			return nil, errors.Join(auth.ErrInvalidToken, err)
		}
		for _, name := range []string{"iss", "sub", "client_id"} {
			if _, ok := claims[name].(string); !ok {
				return nil, fmt.Errorf("%w: no %s", auth.ErrInvalidToken, name)
			}
		}
		return &auth.TokenInfo{UserID: claims["sub"].(string), Expiration: until.Time, Extra: claims}, nil
	}
}
