package sealwaxmcp_test

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	_ "github.com/ncruces/go-sqlite3/driver"
	"github.com/redis/go-redis/v9"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	"github.com/sealwax/sealwax-go/ledger/goredis"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// alike are names that become one where bytes that are no text are replaced, and others by chance.
func alike() []string {
	names := []string{"Jos\xe8", "Jos\xe9", "Jos\ufffd", "Jos?", "Jos", "Jos\xed\xa0\x80", "Jos\u00e9", `Jos\ufffd`}
	for range 4 {
		name := []byte("Jos")
		for range 1 + rand.IntN(3) {
			name = append(name, byte(rand.IntN(256)))
		}
		names = append(names, string(name))
	}
	return names
}

// named sends the name of a user with each request.
type named struct{ user string }

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-User", hex.EncodeToString([]byte(n.user)))
	return http.DefaultTransport.RoundTrip(r)
}

var byName = sealwaxmcp.PrincipalFunc(func(_ context.Context, from *mcp.RequestExtra) (sealwaxmcp.Principal, error) {
	name, err := hex.DecodeString(from.Header.Get("X-User"))
	return sealwax.Subject(string(name)).WithIssuer("https://idp.example.com"), err
})

// visitor is a user of a shop.
type visitor struct {
	client *mcp.ClientSession
	http   *http.Client
	url    string
}

func visiting(t *testing.T, s *shop) func(user string) *visitor {
	t.Helper()
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{Stateless: true, Logger: quiet})
	server := httptest.NewServer(must(s.guard.HTTP(inner)))
	t.Cleanup(server.Close)
	return func(user string) *visitor {
		of := &http.Client{Transport: named{user}}
		transport := &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: of, DisableStandaloneSSE: true}
		return &visitor{connected(t, transport, newest, false), of, server.URL}
	}
}

// post sends a message of an older revision, and returns the status and the session that began.
func (v *visitor) post(t *testing.T, session, message string) (int, string) {
	t.Helper()
	request := must(http.NewRequestWithContext(t.Context(), http.MethodPost, v.url, strings.NewReader(message)))
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Content-Type", "application/json")
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	response := must(v.http.Do(request))
	defer response.Body.Close()
	readAll(t, response)
	return response.StatusCode, response.Header.Get("Mcp-Session-Id")
}

// things are what a user can be given, and whether another one can use it.
var things = map[string]struct {
	made func(t *testing.T, v *visitor) any
	used func(t *testing.T, v *visitor, thing any) bool
}{
	"requestState": {
		func(t *testing.T, v *visitor) any {
			if result, err := call(t, v.client, "ask", note{7}); err == nil && result.RequestState != "" {
				return result.RequestState
			}
			return nil
		},
		func(t *testing.T, v *visitor, thing any) bool {
			return strings.Contains(carriers[0].present(t, v.client, thing.(string)), carriers[0].taken)
		},
	},
	"cursor": {
		func(t *testing.T, v *visitor) any {
			if page, err := v.client.ListResources(t.Context(), nil); err == nil && page.NextCursor != "" {
				return page.NextCursor
			}
			return nil
		},
		func(t *testing.T, v *visitor, thing any) bool {
			return strings.Contains(carriers[1].present(t, v.client, thing.(string)), carriers[1].taken)
		},
	},
	"handle": {
		func(t *testing.T, v *visitor) any {
			if result, err := call(t, v.client, "mint", nil); err == nil && !result.IsError {
				return structured(t, result, err)["handle"]
			}
			return nil
		},
		func(t *testing.T, v *visitor, thing any) bool {
			return strings.Contains(carriers[2].present(t, v.client, thing.(string)), carriers[2].taken)
		},
	},
	"data-layer session": {
		func(t *testing.T, v *visitor) any {
			result, err := mcp.CallCustomMethod[*customParams, *customResult](t.Context(), v.client, "sessions/create", &customParams{})
			if err != nil {
				return nil
			}
			return result.Session
		},
		func(t *testing.T, v *visitor, thing any) bool {
			params := &mcp.CallToolParams{Name: "count", Arguments: map[string]any{}}
			params.Meta = mcp.Meta{sessionKey: thing}
			result, err := v.client.CallTool(t.Context(), params)
			return err == nil && !result.IsError
		},
	},
	"Mcp-Session-Id": {
		func(t *testing.T, v *visitor) any {
			if _, session := v.post(t, "", initialize); session != "" {
				return session
			}
			return nil
		},
		func(t *testing.T, v *visitor, thing any) bool {
			status, _ := v.post(t, thing.(string), `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			return status == http.StatusOK
		},
	},
}

// Two principals that differ never meet: what one of them was given the other cannot use, or one of them is refused.
func TestTwoPrincipalsThatDifferNeverMeet(t *testing.T) {
	for name, options := range map[string][]sealwaxmcp.Option{
		"no ledger": nil, "a ledger": {sealwaxmcp.WithLedger(must(ledger.NewMemory()))},
	} {
		visit := visiting(t, newShop(codecOf(freshKeys()), byName, options...))
		names := alike()
		visitors := make([]*visitor, len(names))
		for n, user := range names {
			visitors[n] = visit(user)
		}
		for kind, thing := range things {
			served := 0
			for n, one := range visitors {
				for m, other := range visitors {
					if m == n || names[m] == names[n] {
						continue
					}
					if made := thing.made(t, one); made != nil && thing.used(t, other, made) {
						t.Errorf("%s: what %q was given by %s, %q can use", name, names[n], kind, names[m])
					}
				}
				if made := thing.made(t, one); made != nil && thing.used(t, one, made) {
					served++
				}
			}
			if served < 5 {
				t.Errorf("%s, %s: of %q only %d are served", name, kind, names, served)
			}
		}
	}
}

// valkey returns a client of a server of its own.
func valkey(t *testing.T, program string) *redis.Client {
	t.Helper()
	folder := must(os.MkdirTemp("", "valkey"))
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "socket")
	command := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	t.Cleanup(func() { _ = client.Close() })
	for range 1000 {
		if client.Ping(t.Context()).Err() == nil {
			return client
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the server does not answer")
	return nil
}

// To sign one of them out signs no other one out, in each of the real stores.
func TestOnePrincipalIsSignedOut(t *testing.T) {
	stores := map[string]func() ledger.Ledger{
		"memory": func() ledger.Ledger { return must(ledger.NewMemory()) },
		"SQLite": func() ledger.Ledger {
			db := must(sql.Open("sqlite3", "file:"+filepath.ToSlash(filepath.Join(t.TempDir(), "ledger.db"))))
			t.Cleanup(func() { _ = db.Close() })
			return must(ledger.NewSQLite(t.Context(), db))
		},
	}
	if program := os.Getenv("VALKEY_SERVER"); program != "" {
		client := valkey(t, program)
		stores["Valkey"] = func() ledger.Ledger {
			must(client.FlushAll(t.Context()).Result())
			return must(goredis.New(client))
		}
	} else if os.Getenv("CI") == "true" {
		t.Fatal("VALKEY_SERVER names no server")
	}
	names := []string{"Jos\xe8", "Jos\xe9", "Jos\ufffd", "Jos?"}
	for store, open := range stores {
		for _, out := range names {
			s := newShop(codecOf(freshKeys()), byName, sealwaxmcp.WithLedger(open(),
				sealwaxmcp.AcceptIssuedSince(time.Now().Add(-time.Hour))))
			visit := visiting(t, s)
			made := map[string]any{}
			visitors := map[string]*visitor{}
			for _, user := range names {
				visitors[user] = visit(user)
				made[user] = things["handle"].made(t, visitors[user])
			}
			err := s.guard.Revoke(t.Context(), sealwax.Subject(out).WithIssuer("https://idp.example.com"))
			if err != nil && !errors.Is(err, sealwax.ErrInvalidArgument) {
				t.Fatalf("%s: %v", store, err)
			}
			for _, user := range names {
				used := made[user] != nil && things["handle"].used(t, visitors[user], made[user])
				if expected := made[user] != nil && (err != nil || user != out); used != expected {
					t.Errorf("%s: %q signed out, %v: %q is served: %v", store, out, err, user, used)
				}
			}
		}
	}
}

// Other texts of an author's are UTF-8 too, or refused.
func TestWhatIsNoTextIsRefused(t *testing.T) {
	codec, bad := codecOf(freshKeys()), "Jos\xe8"
	guard := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous))
	view := must(codec.View(alice()))
	for name, made := range map[string]func() error{
		"a subject": func() error { _, err := codec.View(sealwax.Subject(bad)); return err },
		"an issuer": func() error { _, err := codec.View(alice().WithIssuer(bad)); return err },
		"a client":  func() error { _, err := codec.View(sealwax.Client(bad)); return err },
		"claims": func() error {
			_, err := sealwax.PrincipalFromClaims(map[string]any{"iss": "https://idp.example.com", "sub": bad})
			return err
		},
		"an audience":          func() error { _, err := sealwax.New(must(sealwax.ParseKeyRing(freshKeys())), bad); return err },
		"the list of a cursor": func() error { _, err := view.Cursor(bad).Seal(nil); return err },
		"the name of a custom": func() error { _, err := view.Custom(bad).Seal(nil); return err },
		"a type of handles":    func() error { _, err := view.HandleState(bad).Seal(nil); return err },
		"a session id":         func() error { _, err := view.State(bad).Seal(nil); return err },
		"a method":             func() error { _, err := sealwax.NewRequestContext(bad, "", nil); return err },
		"a named argument":     func() error { _, err := sealwax.NewRequestContext("tools/call", "x", nil, bad); return err },
		"a value":              func() error { _, err := view.Custom("x").SealJSON(map[string]any{"deep": []string{bad}}); return err },
		"a key of a value":     func() error { _, err := view.Custom("x").SealJSON(map[string]int{bad: 1}); return err },
		"a type of a guard's":  func() error { _, err := guard.ReferenceHandles(bad); return err },
		"only": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithOnly("x", bad))
			return err
		},
		"the target of only": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithOnly(bad, "x"))
			return err
		},
		"the label of a ledger": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithLedger(must(ledger.NewMemory()), sealwaxmcp.Label(bad)))
			return err
		},
		"a tool that needs a session": func() error {
			_, err := sealwaxmcp.NewSessions[int](guard, nil, sealwaxmcp.HeldByServer(), sealwaxmcp.RequiredTools(bad))
			return err
		},
	} {
		if err := made(); !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What encoding/json does not replace is no mistake.
	for _, value := range []any{"\ufffd", `\ufffd`, `\\ufffd`, "Jos\u00e9", []byte("\xe8")} {
		if _, err := view.Custom("x").SealJSON(value); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
	// Handlers hear of it.
	s := newShop(codec, sealwaxmcp.Anonymous)
	var failures []error
	mcp.AddTool(s.server, &mcp.Tool{Name: "no text"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		_, err := s.guard.State(ctx, bad)
		_, sealed := s.baskets.Seal(ctx, []string{bad})
		failures = append(failures, err, sealed)
		return &mcp.CallToolResult{}, nil, nil
	})
	must(call(t, within(t, s.server), "no text", nil))
	for _, err := range failures {
		if !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("a handler: %v", err)
		}
	}
}
