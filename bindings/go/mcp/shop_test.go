package sealwaxmcp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

const (
	audience = "https://shop.example.com"
	secret   = "of the identity provider, for tests"
	newest   = "2026-07-28"
	older    = "2025-11-25"
	pageSize = 10
	items    = 25
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// shop is a server with one of each thing that a guard seals.
type shop struct {
	guard   *sealwaxmcp.Guard
	server  *mcp.Server
	counts  *sealwaxmcp.Sessions[int]
	rows    *sealwaxmcp.ReferenceHandles
	baskets *sealwaxmcp.SelfContainedHandles[[]string]

	mu       sync.Mutex
	refusals []sealwaxmcp.Refusal
}

type asked struct {
	Asked int `json:"asked"`
}

func newShop(codec *sealwax.Codec, who sealwaxmcp.Principals, options ...sealwaxmcp.Option) *shop {
	s := &shop{}
	options = append([]sealwaxmcp.Option{sealwaxmcp.OnRefused(s.refused), sealwaxmcp.WithLogger(quiet)}, options...)
	s.guard = must(sealwaxmcp.New(codec, who, options...))
	s.counts = must(sealwaxmcp.NewSessions(s.guard, func(context.Context, *mcp.RequestExtra) (int, error) { return 0, nil },
		sealwaxmcp.RequiredTools("count")))
	s.rows = must(s.guard.ReferenceHandles("row", sealwaxmcp.MaxAge(time.Hour)))
	s.baskets = must(sealwaxmcp.NewSelfContainedHandles[[]string](s.guard, "basket", sealwaxmcp.HandleTTL(time.Hour)))
	s.server = mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, &mcp.ServerOptions{
		PageSize: pageSize, Logger: quiet,
		// The SDK's default is public: then anybody may use a page's cursor.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	mcp.AddTool(s.server, &mcp.Tool{Name: "ask"}, s.ask)
	mcp.AddTool(s.server, &mcp.Tool{Name: "mint"}, s.mint)
	mcp.AddTool(s.server, &mcp.Tool{Name: "check"}, s.check)
	mcp.AddTool(s.server, &mcp.Tool{Name: "end"}, s.end)
	mcp.AddTool(s.server, &mcp.Tool{Name: "seal"}, s.seal)
	mcp.AddTool(s.server, &mcp.Tool{Name: "add"}, s.add)
	mcp.AddTool(s.server, &mcp.Tool{Name: "count"}, s.count)
	mcp.AddTool(s.server, &mcp.Tool{Name: "settled"}, s.settled)
	// A low-level tool, whose errors the SDK makes no results of.
	s.server.AddTool(&mcp.Tool{Name: "low", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_, err := s.rows.Check(ctx, "row_of_nobody")
			return nil, err
		})
	s.server.AddPrompt(&mcp.Prompt{Name: "quiz", Arguments: []*mcp.PromptArgument{{Name: "id"}}}, s.quiz)
	for item := range items {
		s.server.AddResource(&mcp.Resource{URI: fmt.Sprintf("item:///%02d", item), Name: fmt.Sprint("item ", item)}, s.item)
	}
	if err := s.guard.Protect(s.server); err != nil {
		panic(err)
	}
	return s
}

func (s *shop) refused(refusal sealwaxmcp.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal)
}

// codes returns the codes of what was refused since the last time.
func (s *shop) codes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	codes := []string{}
	for _, refusal := range s.refusals {
		codes = append(codes, refusal.Code)
	}
	s.refusals = nil
	return codes
}

func question(ctx context.Context, s *shop, id int) (mcp.InputRequestMap, string, error) {
	state, err := s.guard.State(ctx, asked{id})
	schema := map[string]any{"type": "object", "properties": map[string]any{"sure": map[string]any{"type": "boolean"}}}
	return mcp.InputRequestMap{"sure": &mcp.ElicitParams{Message: "Sure?", RequestedSchema: schema}}, state, err
}

type note struct {
	ID int `json:"id"`
}

// answer is a structured result.
type answer struct {
	ID     int    `json:"id"`
	Asked  int    `json:"asked"`
	Action string `json:"action"`
}

func (s *shop) ask(ctx context.Context, req *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
	before, ok, err := sealwaxmcp.Opened[asked](ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		questions, state, err := question(ctx, s, in.ID)
		return &mcp.CallToolResult{InputRequests: questions, RequestState: state}, nil, err
	}
	said, _ := req.Params.InputResponses["sure"].(*mcp.ElicitResult)
	if said == nil {
		said = &mcp.ElicitResult{}
	}
	return nil, answer{in.ID, before.Asked, said.Action}, nil
}

func (s *shop) quiz(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	before, ok, err := sealwaxmcp.Opened[asked](ctx, req)
	if err != nil {
		return nil, err
	}
	if !ok {
		questions, state, err := question(ctx, s, 7)
		return &mcp.GetPromptResult{InputRequests: questions, RequestState: state}, err
	}
	return &mcp.GetPromptResult{Description: fmt.Sprint("asked ", before.Asked), Messages: []*mcp.PromptMessage{}}, nil
}

func (s *shop) item(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	before, ok, err := sealwaxmcp.Opened[asked](ctx, req)
	if err != nil {
		return nil, err
	}
	if !ok {
		questions, state, err := question(ctx, s, 7)
		return &mcp.ReadResourceResult{InputRequests: questions, RequestState: state}, err
	}
	text := fmt.Sprint("asked ", before.Asked)
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: text}}}, nil
}

type handle struct {
	Handle string `json:"handle"`
}

type row struct {
	Handle string   `json:"handle"`
	ULID   string   `json:"ulid,omitempty"`
	Items  []string `json:"items,omitempty"`
}

func (s *shop) mint(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, row, error) {
	made, err := s.rows.Mint(ctx)
	return nil, row{Handle: made.Handle, ULID: made.ULID}, err
}

func (s *shop) check(ctx context.Context, _ *mcp.CallToolRequest, in handle) (*mcp.CallToolResult, row, error) {
	made, err := s.rows.Check(ctx, in.Handle)
	return nil, row{Handle: made.Handle, ULID: made.ULID}, err
}

func (s *shop) end(ctx context.Context, _ *mcp.CallToolRequest, in handle) (*mcp.CallToolResult, row, error) {
	return nil, row{}, s.rows.End(ctx, in.Handle)
}

func (s *shop) seal(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, row, error) {
	made, err := s.baskets.Seal(ctx, []string{})
	return nil, row{Handle: made.Handle}, err
}

func (s *shop) add(ctx context.Context, _ *mcp.CallToolRequest, in handle) (*mcp.CallToolResult, row, error) {
	before, err := s.baskets.Open(ctx, in.Handle)
	if err != nil {
		return nil, row{}, err
	}
	items := append(before.Value, fmt.Sprint("item ", before.Generation))
	made, err := s.baskets.Renew(ctx, before, items)
	return nil, row{Handle: made.Handle, Items: items}, err
}

func (s *shop) count(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	session, err := s.counts.Of(ctx)
	if err != nil {
		return nil, nil, err
	}
	n := session.Value() + 1
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(n)}}}, nil, session.Write(n)
}

// settled returns what was negotiated when the session of the transport began.
func (s *shop) settled(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	text := "nothing"
	if settled := sealwaxmcp.NegotiatedOf(ctx); settled != nil {
		text = settled.ProtocolVersion + " " + string(settled.ClientInfo)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}

// bearer returns a JWT of a user, as an identity provider makes it.
func bearer(user string) string {
	claims := jwt.MapClaims{
		"iss": "https://idp.example.com", "sub": user, "client_id": "cli-7", "aud": audience, "exp": time.Now().Add(time.Hour).Unix(),
	}
	return must(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(secret)))
}

func verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	claims := jwt.MapClaims{}
	key := func(*jwt.Token) (any, error) { return []byte(secret), nil }
	if _, err := jwt.ParseWithClaims(token, claims, key, jwt.WithValidMethods([]string{"HS256"}), jwt.WithAudience(audience)); err != nil {
		return nil, errors.Join(auth.ErrInvalidToken, err)
	}
	return &auth.TokenInfo{Expiration: must(claims.GetExpirationTime()).Time, Extra: claims}, nil
}

// listening serves a shop over HTTP, and returns its address.
func listening(t *testing.T, s *shop, options ...sealwaxmcp.TransportOption) string {
	t.Helper()
	return serves(t, must(s.guard.HTTP(s.stateless(), options...)))
}

func (s *shop) stateless() http.Handler {
	stateless := &mcp.StreamableHTTPOptions{Stateless: true, Logger: quiet}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, stateless)
}

// serves has a handler listen behind authentication.
func serves(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(auth.RequireBearerToken(verify, nil)(handler))
	t.Cleanup(server.Close)
	return server.URL
}

// authorized sends a user's token with each request.
type authorized struct{ user string }

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+bearer(a.user))
	return http.DefaultTransport.RoundTrip(r)
}

type customParams struct{ mcp.ParamsBase }

type customResult struct {
	mcp.ResultBase
	Session map[string]any `json:"session,omitempty"`
}

// connected connects the official client, of a revision, that answers no questions by itself.
func connected(t *testing.T, transport mcp.Transport, revision string, answers bool) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{Logger: quiet, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: !answers}}
	options.ElicitationHandler = func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"sure": true}}, nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, options)
	for _, method := range []string{"sessions/create", "sessions/delete"} {
		if err := mcp.AddSendingCustomMethod[*customParams, *customResult](client, method); err != nil {
			t.Fatal(err)
		}
	}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// overHTTP connects a user to an address.
func overHTTP(t *testing.T, url, user, revision string) *mcp.ClientSession {
	t.Helper()
	transport := &mcp.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: authorized{user}}, DisableStandaloneSSE: true,
	}
	return connected(t, transport, revision, false)
}

// serving makes this program a server on stdio, for tests over real pipes between processes.
const serving = "SEALWAX_TEST_SERVES"

func TestMain(m *testing.M) {
	if os.Getenv(serving) == "" {
		os.Exit(m.Run())
	}
	s := newShop(must(sealwax.FromEnv(audience)), sealwaxmcp.PrincipalFunc(
		func(context.Context, *mcp.RequestExtra) (sealwaxmcp.Principal, error) {
			return sealwax.Subject(os.Getenv(serving)), nil
		},
	))
	if err := s.server.Run(context.Background(), must(s.guard.Stdio())); err != nil {
		os.Exit(1)
	}
}

// overStdio connects to a process that serves a user.
func overStdio(t *testing.T, keys, user, revision string) *mcp.ClientSession {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serving+"="+user, "SEALWAX_KEYS="+keys)
	return connected(t, &mcp.CommandTransport{Command: command}, revision, false)
}
