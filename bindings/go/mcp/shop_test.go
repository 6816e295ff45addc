package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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

var quiet = slog.New(slog.DiscardHandler)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// failure returns the error alone.
func failure[T any](_ T, err error) error { return err }

func freshKeys() string { return must(must(sealwax.GenerateKey()).Text()) }

func codecOf(keys string, options ...sealwax.Option) *sealwax.Codec {
	return must(sealwax.New(must(sealwax.ParseKeyRing(keys)), audience, options...))
}

func alice() sealwax.Principal {
	return sealwax.Subject("alice").WithClient("cli-7").WithIssuer("https://idp.example.com")
}

// principal names whoever it returns.
func principal(who func() sealwax.Principal) sealwaxmcp.Principals {
	return sealwaxmcp.PrincipalFunc(func(context.Context, *mcp.RequestExtra) (sealwax.Principal, error) { return who(), nil })
}

// shop is a server with one of each thing that a guard seals, and a tool to confirm.
type shop struct {
	guard   *sealwaxmcp.Guard
	server  *mcp.Server
	counts  *sealwaxmcp.Sessions[int]
	baskets *sealwaxmcp.SelfContainedHandles[[]string]
	// begins is called when a session does, and lists by the SDK's own list of tools.
	begins func()
	lists  func(context.Context)

	mu       sync.Mutex
	refusals []sealwaxmcp.Refusal
	// deleted has the params of each call that ran.
	deleted []*mcp.CallToolParamsRaw
}

func newShop(codec *sealwax.Codec, who sealwaxmcp.Principals, options ...sealwaxmcp.Option) *shop {
	s := &shop{begins: func() {}, lists: func(context.Context) {}}
	options = append([]sealwaxmcp.Option{sealwaxmcp.OnRefused(s.refused), sealwaxmcp.WithLogger(quiet)}, options...)
	s.guard = must(sealwaxmcp.New(codec, who, options...))
	s.counts = must(sealwaxmcp.NewSessions(s.guard, func(context.Context, *mcp.RequestExtra) (int, error) { s.begins(); return 0, nil },
		sealwaxmcp.RequiredTools("count")))
	s.baskets = must(sealwaxmcp.NewSelfContainedHandles[[]string](s.guard, "basket", sealwaxmcp.HandleTTL(time.Hour)))
	s.server = mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, &mcp.ServerOptions{
		PageSize: pageSize, Logger: quiet,
		// The SDK's default is public: then anybody may use a page's cursor.
		SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
	})
	mcp.AddTool(s.server, &mcp.Tool{Name: "ask"}, s.ask)
	mcp.AddTool(s.server, &mcp.Tool{Name: "delete"}, s.delete)
	s.onHandles()
	s.tool("count", s.count)
	s.tool("settled", s.settled)
	for item := range items {
		s.server.AddResource(&mcp.Resource{URI: fmt.Sprintf("item:///%02d", item), Name: fmt.Sprint("item ", item)}, nil)
	}
	s.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				s.lists(ctx)
			}
			return next(ctx, method, req)
		}
	})
	if err := s.guard.Protect(s.server); err != nil {
		panic(err)
	}
	return s
}

// tool adds one that takes nothing and returns a text.
func (s *shop) tool(name string, work func(context.Context) (string, error)) {
	mcp.AddTool(s.server, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		text, err := work(ctx)
		return textResult(text), nil, err
	})
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func (s *shop) refused(refusal sealwaxmcp.Refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, refusal)
}

// told returns what was refused since the last time.
func (s *shop) told() []sealwaxmcp.Refusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	refusals := s.refusals
	s.refusals = nil
	return refusals
}

type asked struct {
	Asked int `json:"asked"`
}

type note struct {
	ID int `json:"id"`
}

func (s *shop) ask(ctx context.Context, req *mcp.CallToolRequest, in note) (*mcp.CallToolResult, any, error) {
	before, ok, err := sealwaxmcp.Opened[asked](ctx, req)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		state, err := s.guard.State(ctx, asked{in.ID})
		schema := map[string]any{"type": "object", "properties": map[string]any{"sure": map[string]any{"type": "boolean"}}}
		questions := mcp.InputRequestMap{"sure": &mcp.ElicitParams{Message: "Sure?", RequestedSchema: schema}}
		return &mcp.CallToolResult{InputRequests: questions, RequestState: state}, nil, err
	}
	said, _ := req.Params.InputResponses["sure"].(*mcp.ElicitResult)
	if said == nil {
		said = &mcp.ElicitResult{}
	}
	return nil, map[string]any{"id": in.ID, "asked": before.Asked, "action": said.Action}, nil
}

type handle struct {
	Handle string `json:"handle,omitempty"`
}

type basket struct {
	Handle string   `json:"handle"`
	Items  []string `json:"items,omitempty"`
}

// onHandles adds the tools that make and take them.
func (s *shop) onHandles() {
	mcp.AddTool(s.server, &mcp.Tool{Name: "seal"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, basket, error) {
		made, err := s.baskets.Seal(ctx, []string{})
		return nil, basket{Handle: made.Handle}, err
	})
	mcp.AddTool(s.server, &mcp.Tool{Name: "add"}, func(ctx context.Context, _ *mcp.CallToolRequest, in handle) (*mcp.CallToolResult, basket, error) {
		before, err := s.baskets.Open(ctx, in.Handle)
		if err != nil {
			return nil, basket{}, err
		}
		items := append(before.Value, fmt.Sprint("item ", before.Generation))
		made, err := s.baskets.Renew(ctx, before, items)
		return nil, basket{made.Handle, items}, err
	})
}

func (s *shop) delete(_ context.Context, req *mcp.CallToolRequest, _ note) (*mcp.CallToolResult, any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted = append(s.deleted, req.Params)
	return textResult("deleted"), nil, nil
}

func (s *shop) count(ctx context.Context) (string, error) {
	session, err := s.counts.Of(ctx)
	if err != nil {
		return "", err
	}
	n := session.Value() + 1
	return fmt.Sprint(n), session.Write(n)
}

// settled returns what was negotiated when the session of the transport began.
func (s *shop) settled(ctx context.Context) (string, error) {
	settled := sealwaxmcp.NegotiatedOf(ctx)
	if settled == nil {
		return "nothing", nil
	}
	return settled.ProtocolVersion + " " + string(settled.ClientInfo), nil
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

// handler is the SDK's, in which clients of older revisions have sessions unless it is stateless.
func (s *shop) handler(stateless bool) http.Handler {
	options := &mcp.StreamableHTTPOptions{Stateless: stateless, Logger: quiet}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, options)
}

// listening serves replicas over HTTP, of which each request goes to the next, and returns their address.
func listening(t *testing.T, replicas ...*shop) string {
	t.Helper()
	var handlers []http.Handler
	for _, s := range replicas {
		handlers = append(handlers, must(s.guard.HTTP(s.handler(true))))
	}
	var turn atomic.Int64
	return serves(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers[turn.Add(1)%int64(len(handlers))].ServeHTTP(w, r)
	}))
}

// serves has a handler listen behind authentication.
func serves(t *testing.T, handler http.Handler) string {
	t.Helper()
	server := httptest.NewServer(auth.RequireBearerToken(verify, nil)(handler))
	t.Cleanup(server.Close)
	return server.URL
}

// authorized sends a user's token with each request, and may keep what is answered.
type authorized struct {
	user  string
	heard io.Writer
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+bearer(a.user))
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil && a.heard != nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(response.Body, a.heard), response.Body}
	}
	return response, err
}

// posted sends alice's message as it is, and returns the answer, and its body.
func posted(t *testing.T, url, message string, headers ...string) (*http.Response, string) {
	t.Helper()
	request := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message)))
	headers = append([]string{"Accept", "application/json, text/event-stream", "Content-Type", "application/json"}, headers...)
	for header := range slices.Chunk(headers, 2) {
		if header[1] != "" {
			request.Header.Set(header[0], header[1])
		}
	}
	response := must((&http.Client{Transport: authorized{user: "alice"}}).Do(request))
	defer response.Body.Close()
	return response, string(must(io.ReadAll(response.Body)))
}

type customParams struct{ mcp.ParamsBase }

type customResult struct {
	mcp.ResultBase
	Session map[string]any `json:"session,omitempty"`
}

// user answers what the client asks.
type user func(*mcp.ElicitParams) *mcp.ElicitResult

func yes(*mcp.ElicitParams) *mcp.ElicitResult {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": "yes"}}
}

// connected connects the official client, of a revision. Without a user it answers nothing by itself.
func connected(t *testing.T, transport mcp.Transport, revision string, answers user) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{Logger: quiet, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: answers == nil}}
	options.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return answers(req.Params), nil
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, options)
	if err := mcp.AddSendingCustomMethod[*customParams, *customResult](client, "sessions/create"); err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// asking connects a client with a user to a server in this process.
func asking(t *testing.T, server *mcp.Server, revision string, answers user) *mcp.ClientSession {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	return connected(t, ours, revision, answers)
}

func within(t *testing.T, server *mcp.Server) *mcp.ClientSession {
	t.Helper()
	return asking(t, server, newest, nil)
}

// over is a transport to an address, of a user.
func over(url string, by authorized) mcp.Transport {
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: by}, DisableStandaloneSSE: true}
}

// overHTTP connects a user to an address.
func overHTTP(t *testing.T, url, user, revision string) *mcp.ClientSession {
	t.Helper()
	return connected(t, over(url, authorized{user: user}), revision, nil)
}

// serving makes this program a server on stdio, for tests over real pipes between processes.
const serving = "SEALWAX_TEST_SERVES"

func TestMain(m *testing.M) {
	if os.Getenv(serving) == "" {
		os.Exit(m.Run())
	}
	s := newShop(must(sealwax.FromEnv(audience)), principal(func() sealwax.Principal { return sealwax.Subject(os.Getenv(serving)) }))
	if err := s.server.Run(context.Background(), must(s.guard.Stdio())); err != nil {
		os.Exit(1)
	}
}

// process is one that serves a user on stdio.
func process(keys, user string) *exec.Cmd {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serving+"="+user, "SEALWAX_KEYS="+keys)
	return command
}

// ways are how users reach a service of several replicas, or processes.
func ways(t *testing.T, revision string) map[string]func(t *testing.T, user string) *mcp.ClientSession {
	keys := freshKeys()
	url := listening(t, newShop(codecOf(keys), sealwaxmcp.FromToken), newShop(codecOf(keys), sealwaxmcp.FromToken))
	return map[string]func(*testing.T, string) *mcp.ClientSession{
		"HTTP": func(t *testing.T, user string) *mcp.ClientSession { return overHTTP(t, url, user, revision) },
		"stdio": func(t *testing.T, user string) *mcp.ClientSession {
			return connected(t, &mcp.CommandTransport{Command: process(keys, user)}, revision, nil)
		},
	}
}

// toldOf returns all that a client is told.
func toldOf(result any, err error) string {
	if err != nil {
		var failed *jsonrpc.Error
		if errors.As(err, &failed) {
			return string(must(json.Marshal(failed)))
		}
		return "failed: " + err.Error()
	}
	return string(must(json.Marshal(result)))
}

func call(t *testing.T, c *mcp.ClientSession, name string, arguments any) (*mcp.CallToolResult, error) {
	t.Helper()
	return c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
}

// carrier is something that a guard seals, as a client gets, keeps and presents it.
type carrier struct {
	name string
	// good gets one, and present brings it and returns all that the client is told.
	good    func(t *testing.T, c *mcp.ClientSession) string
	present func(t *testing.T, c *mcp.ClientSession, token string) string
	// taken is in what a client is told of a good one.
	taken string
}

var (
	states = carrier{
		name: "requestState", taken: `"asked":7`,
		good: func(t *testing.T, c *mcp.ClientSession) string {
			result, err := call(t, c, "ask", note{7})
			if err != nil || !result.NeedsInput() || result.RequestState == "" {
				t.Fatalf("not asked: %s", toldOf(result, err))
			}
			return result.RequestState
		},
		present: func(t *testing.T, c *mcp.ClientSession, token string) string {
			return toldOf(c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: note{7}, RequestState: token}))
		},
	}
	cursors = carrier{
		name: "cursor", taken: "item:///10",
		good: func(t *testing.T, c *mcp.ClientSession) string {
			page, err := c.ListResources(t.Context(), nil)
			if err != nil || len(page.Resources) != pageSize || page.NextCursor == "" {
				t.Fatalf("no page: %s", toldOf(page, err))
			}
			return page.NextCursor
		},
		present: func(t *testing.T, c *mcp.ClientSession, token string) string {
			return toldOf(c.ListResources(t.Context(), &mcp.ListResourcesParams{Cursor: token}))
		},
	}
	baskets = carrier{
		name: "self-contained handle", taken: `"item 0"`,
		good: func(t *testing.T, c *mcp.ClientSession) string {
			result, err := call(t, c, "seal", nil)
			made, ok := must(result, err).StructuredContent.(map[string]any)
			if !ok {
				t.Fatalf("no handle: %s", toldOf(result, nil))
			}
			return made["handle"].(string)
		},
		present: func(t *testing.T, c *mcp.ClientSession, token string) string {
			return toldOf(call(t, c, "add", handle{token}))
		},
	}
)
