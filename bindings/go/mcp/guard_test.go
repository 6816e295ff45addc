package sealwaxmcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

func TestWhatCannotBeAGuardIsRefused(t *testing.T) {
	codec := codecOf(freshKeys())
	memory := must(ledger.NewMemory())
	for name, made := range map[string]func() error{
		"no codec":      func() error { _, err := sealwaxmcp.New(nil, sealwaxmcp.Anonymous); return err },
		"no principals": func() error { _, err := sealwaxmcp.New(codec, nil); return err },
		"no ledger": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithLedger(nil))
			return err
		},
		"too long a time limit": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithTimeLimit(time.Hour))
			return err
		},
		"no time limit": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithTimeLimit(0))
			return err
		},
		"a negative time limit": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithTimeLimit(-time.Second))
			return err
		},
		"half a millisecond": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithTimeLimit(500*time.Microsecond))
			return err
		},
		"no lifetime": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithRequestStateTTL(0))
			return err
		},
		"half a second": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithRequestStateTTL(time.Second/2))
			return err
		},
		"a negative tolerance": func() error {
			_, err := sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithLedger(memory, sealwaxmcp.ClockTolerance(-time.Second)))
			return err
		},
		"a type of handles": func() error {
			_, err := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).ReferenceHandles("Row")
			return err
		},
		"single use without a ledger": func() error {
			_, err := sealwaxmcp.NewSelfContainedHandles[int](must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)), "row", sealwaxmcp.SingleUse())
			return err
		},
		"a TTL of reference handles": func() error {
			_, err := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).ReferenceHandles("row", sealwaxmcp.HandleTTL(time.Hour))
			return err
		},
		"a server with a guard": func() error {
			server := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
			return errors.Join(must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).Protect(server), must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).Protect(server))
		},
		"no server": func() error { return must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).Protect(nil) },
		"idle without a ledger": func() error {
			_, err := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).HTTP(nil, sealwaxmcp.TransportIdle(time.Hour))
			return err
		},
		"a revocation without a ledger": func() error {
			return must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)).Revoke(t.Context(), alice())
		},
		"sessions that come late": func() error {
			guard := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous))
			if err := guard.Protect(mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)); err != nil {
				return nil
			}
			_, err := sealwaxmcp.NewSessions(guard, func(context.Context, *mcp.RequestExtra) (int, error) { return 0, nil })
			return err
		},
	} {
		if err := made(); !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Out of a request there is nothing to seal for.
	guard := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous))
	if _, err := guard.State(t.Context(), 1); !errors.Is(err, sealwax.ErrInvalidArgument) {
		t.Errorf("State: %v", err)
	}
	if _, _, err := sealwaxmcp.Opened[int](t.Context(), nil); !errors.Is(err, sealwax.ErrInvalidArgument) {
		t.Errorf("Opened: %v", err)
	}
}

// A goroutine that a handler leaves behind can seal nothing for a request that is over.
func TestWhatIsLeftBehindSealsNothing(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	late := make(chan error, 2)
	answered := make(chan struct{})
	mcp.AddTool(s.server, &mcp.Tool{Name: "late"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		go func() {
			<-answered
			_, err := s.guard.State(ctx, 1)
			late <- err
			_, err = s.rows.Mint(ctx)
			late <- err
		}()
		return &mcp.CallToolResult{}, nil, nil
	})
	c := within(t, s.server)
	if _, err := call(t, c, "late", nil); err != nil {
		t.Fatal(err)
	}
	close(answered)
	for range 2 {
		if err := <-late; !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("sealed late: %v", err)
		}
	}
}

// The reason goes to the log as one line, and the client never hears it.
func TestTheLogSaysWhy(t *testing.T) {
	var text, members bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	defer slog.SetDefault(slog.New(slog.DiscardHandler))
	for _, options := range [][]sealwaxmcp.Option{nil, {sealwaxmcp.WithLogger(slog.New(slog.NewJSONHandler(&members, nil)))}} {
		guard := must(sealwaxmcp.New(codecOf(freshKeys()), sealwaxmcp.Anonymous, options...))
		server := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
		if err := guard.Protect(server); err != nil {
			t.Fatal(err)
		}
		_, err := within(t, server).ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "forged"})
		if told := toldOf(nil, err); strings.Contains(told, "malformed") || !strings.Contains(told, "-32602") {
			t.Errorf("told %s", told)
		}
	}
	if line := text.String(); !strings.Contains(line, "sealwax: malformed kind=cursor method=") || strings.Count(line, "\n") != 1 {
		t.Errorf("logged %s", line)
	}
	var record struct {
		Level   string
		Sealwax struct{ Code, Kind, Method string }
	}
	if err := json.Unmarshal(members.Bytes(), &record); err != nil || record.Sealwax.Code != "malformed" || record.Sealwax.Method != "tools/list" || record.Level != "WARN" {
		t.Errorf("logged %s", members.String())
	}
}

// A ledger that fails, hangs or breaks off is the server's fault, and fails closed.
func TestALedgerThatDoesNotAnswerFailsClosed(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	for name, run := range map[string]running{
		"late":   func(context.Context) ([]string, error) { <-stuck; return []string{"ok", "0"}, nil },
		"fails":  func(context.Context) ([]string, error) { return []string{"ok", "0"}, errors.New("password=hunter2") },
		"panics": func(context.Context) ([]string, error) { panic("password=hunter2") },
		"exits":  func(context.Context) ([]string, error) { runtime.Goexit(); return []string{"ok", "0"}, nil },
	} {
		s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken, sealwaxmcp.WithLedger(run), sealwaxmcp.WithTimeLimit(time.Second))
		c := overHTTP(t, listening(t, s), "alice", newest)
		one := carriers[0]
		if told := one.present(t, c, one.good(t, c)); !strings.Contains(told, "-32603") || strings.Contains(told, "hunter2") {
			t.Errorf("%s: %s", name, told)
		}
		s.mu.Lock()
		if len(s.refusals) == 0 {
			t.Errorf("%s: nothing is logged", name)
		}
		for _, refusal := range s.refusals {
			if refusal.Code != "ledger_unavailable" || !refusal.Fault || strings.Contains(refusal.Message, "hunter2") {
				t.Errorf("%s: %+v", name, refusal)
			}
		}
		s.mu.Unlock()
	}
}

// What is out of bounds is the engine's to refuse: it never becomes the default.
func TestRetainForNothingIsNotTheDefault(t *testing.T) {
	var last ledger.Command
	guard := must(sealwaxmcp.New(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithLedger(remembering{must(ledger.NewMemory()), &last})))
	err := guard.Revoke(t.Context(), alice(), sealwaxmcp.RetainFor(0))
	if err == nil && last.Args[0] != "0" {
		t.Errorf("remembered for %s s", last.Args[0])
	}
}

// remembering is a ledger that knows its last command.
type remembering struct {
	ledger.Ledger
	last *ledger.Command
}

func (r remembering) Run(ctx context.Context, command ledger.Command) ([]string, error) {
	*r.last = command
	return r.Ledger.Run(ctx, command)
}

type running func(context.Context) ([]string, error)

func (r running) Run(ctx context.Context, _ ledger.Command) ([]string, error) { return r(ctx) }

func TestFromToken(t *testing.T) {
	claims := map[string]any{"iss": "https://idp.example.com", "sub": "alice", "azp": "cli-7", "other": func() {}}
	found, err := sealwaxmcp.FromToken.Principal(t.Context(), &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{Extra: claims}})
	if err != nil || found != alice() {
		t.Errorf("claims: %v %v", found, err)
	}
	info := &auth.TokenInfo{UserID: "alice", Extra: map[string]any{"iss": "https://idp.example.com", "client_id": "cli-7"}}
	if found, err := sealwaxmcp.FromToken.Principal(t.Context(), &mcp.RequestExtra{TokenInfo: info}); err != nil || found != alice() {
		t.Errorf("a user's id: %v %v", found, err)
	}
	if found, err := sealwaxmcp.FromToken.Principal(t.Context(), &mcp.RequestExtra{}); err != nil || found != (sealwaxmcp.Principal{}) {
		t.Errorf("nobody: %v %v", found, err)
	}
	if _, err := sealwaxmcp.FromToken.Principal(t.Context(), &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{UserID: "alice"}}); err == nil {
		t.Error("a subject without its issuer")
	}
}

// Keys that change are those of requests that come later, in every shard.
func TestKeysChange(t *testing.T) {
	before, after := freshKeys(), freshKeys()
	codec := codecOf(before)
	s := newShop(codec, sealwaxmcp.FromToken)
	c := overHTTP(t, listening(t, s), "alice", newest)
	one := carriers[3]
	token := one.good(t, c)
	must(codec.SetKeys(must(sealwax.ParseKeyRing(after + " " + before))))
	for range 4 * runtime.GOMAXPROCS(0) {
		if told := one.present(t, c, token); !strings.Contains(told, one.taken) {
			t.Fatalf("of the older key: %s", told)
		}
	}
	newer := one.good(t, c)
	must(codec.SetKeys(must(sealwax.ParseKeyRing(after))))
	for range 4 * runtime.GOMAXPROCS(0) {
		if told := one.present(t, c, token); !strings.Contains(told, `"isError":true`) {
			t.Fatalf("of the retired key: %s", told)
		}
		if told := one.present(t, c, newer); !strings.Contains(told, one.taken) {
			t.Fatalf("of the newer key: %s", told)
		}
	}
}

// Nothing stays of a request, however it ended: as many as run in some seconds, or SEALWAX_TEST_EXCHANGES.
func TestNothingLeaks(t *testing.T) {
	if testing.Short() {
		t.Skip("for long")
	}
	many := 20_000
	if given := os.Getenv("SEALWAX_TEST_EXCHANGES"); given != "" {
		many = must(strconv.Atoi(given))
	}
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	c := within(t, s.server)
	mint, token := carriers[2].good(t, c), carriers[0].good(t, c)
	visit := func(n int) {
		switch n % 5 {
		case 0:
			carriers[0].good(t, c)
		case 1:
			carriers[0].present(t, c, token)
		case 2:
			carriers[0].present(t, c, token+"=")
		case 3:
			carriers[2].present(t, c, mint)
		default:
			// Nobody waits for the answer.
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: note{7}})
		}
	}
	const users = 8
	run := func(many int) uint64 {
		var wait sync.WaitGroup
		for user := range users {
			wait.Go(func() {
				for n := range many / users {
					visit(n + user)
				}
			})
		}
		wait.Wait()
		runtime.GC()
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		s.codes()
		return stats.HeapAlloc
	}
	before := run(many / 2)
	if after := run(many / 2); after > before+4<<20 {
		t.Errorf("%d requests took %d MiB more than as many before", many/2, (after-before)>>20)
	}
}

// What the guard's adapter takes for granted of the SDK, and no type of Go's says: a newer SDK that differs fails here.
func TestCanary(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "canary", Version: "1"}, nil)
	var order []string
	for _, name := range []string{"inner", "outer"} {
		server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
			return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
				if method == "tools/call" {
					order = append(order, name)
				}
				return next(ctx, method, req)
			}
		})
	}
	var raw string
	server.AddTool(&mcp.Tool{Name: "raw", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw = string(req.Params.Arguments)
		result := &mcp.CallToolResult{}
		result.SetError(errors.New("of a typed handler"))
		return result, nil
	})
	c := within(t, server)
	arguments := json.RawMessage(`{"n":1e2,"a":"\u00e9"}`)
	result := must(c.CallTool(t.Context(), &mcp.CallToolParams{Name: "raw", Arguments: arguments}))
	if order := fmt.Sprint(order); order != "[outer inner]" {
		t.Errorf("middleware that was added last is the %s", order)
	}
	if raw != string(arguments) {
		t.Errorf("arguments come as %s", raw)
	}
	if !result.IsError {
		t.Error("an error of a typed handler is no result of its tool")
	}
	if err := mcp.AddReceivingCustomMethod(server, "sessions/create", func(context.Context, *mcp.ServerSession, *customParams) (*customResult, error) {
		return &customResult{}, nil
	}); err != nil {
		t.Error(err)
	}
}

// A tool that catches a refusal finds the reason, and nothing of it in the error's text.
func TestAToolMayCatchARefusal(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	var caught error
	mcp.AddTool(s.server, &mcp.Tool{Name: "catch"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		if _, caught = s.rows.Check(ctx, "row_of_nobody"); caught == nil {
			return nil, nil, errors.New("accepted")
		}
		made, err := s.rows.Mint(ctx)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: made.Handle}}}, nil, err
	})
	if result, err := call(t, within(t, s.server), "catch", nil); err != nil || result.IsError {
		t.Errorf("told %s", toldOf(result, err))
	}
	var refused *sealwaxmcp.HandleRefused
	if !errors.As(caught, &refused) || !errors.Is(caught, sealwax.ErrRefused) || !errors.Is(caught, sealwax.ErrMalformed) {
		t.Errorf("caught %v", caught)
	}
	if strings.Contains(caught.Error(), "malformed") {
		t.Errorf("the text says why: %v", caught)
	}
}
