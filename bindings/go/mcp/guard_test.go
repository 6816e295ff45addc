package sealwaxmcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// What an author cannot mean is an error of the call that says it.
func TestWhatCannotBeMeantIsRefused(t *testing.T) {
	const bad = "Jos\xe8"
	codec, records := codecOf(freshKeys()), must(ledger.NewMemory())
	revoking := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous, sealwaxmcp.WithLedger(records)))
	guard, late := must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous)), must(sealwaxmcp.New(codec, sealwaxmcp.Anonymous))
	server := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
	if err := late.Protect(server); err != nil {
		t.Fatal(err)
	}
	errs := map[string]error{
		"no codec":                    failure(sealwaxmcp.New(nil, sealwaxmcp.Anonymous)),
		"no principals":               failure(sealwaxmcp.New(codec, nil)),
		"a TTL of reference handles":  failure(guard.ReferenceHandles("row", sealwaxmcp.HandleTTL(time.Hour))),
		"single use without a ledger": failure(sealwaxmcp.NewSelfContainedHandles[int](guard, "row", sealwaxmcp.SingleUse())),
		"a server with a guard":       guard.Protect(server),
		"no server":                   guard.Protect(nil),
		"sessions that come late":     failure(sealwaxmcp.NewSessions[int](late, nil, sealwaxmcp.HeldByServer())),
		"a tool that is no text":      failure(sealwaxmcp.NewSessions[int](guard, nil, sealwaxmcp.HeldByServer(), sealwaxmcp.RequiredTools(bad))),
		"a name of links":             failure(sealwaxmcp.NewLinks[int](guard, "Report")),
		"half a second of a link":     failure(sealwaxmcp.NewLinks[int](guard, "report", sealwaxmcp.LinkTTL(time.Second/2))),
		"a user who is no text":       revoking.Revoke(t.Context(), sealwax.Subject(bad)),
		"to revoke for no time":       revoking.Revoke(t.Context(), alice(), sealwaxmcp.RetainFor(0)),
		// Out of a request there is nothing to seal for.
		"a state out of a request":  failure(guard.State(t.Context(), 1)),
		"a cursor out of a request": failure(guard.Cursor(t.Context(), 20)),
		"a link out of a request":   failure(must(sealwaxmcp.NewLinks[int](guard, "report")).Seal(t.Context(), 7)),
	}
	_, _, errs["what opened out of a request"] = sealwaxmcp.Opened[int](t.Context(), nil)
	_, _, errs["the position out of a request"] = sealwaxmcp.Position[int](t.Context())
	for name, option := range map[string]sealwaxmcp.CursorOption{
		"a negative time": sealwaxmcp.CursorTTL(-time.Second), "an argument": sealwaxmcp.CursorArgument(bad), "a list": sealwaxmcp.CursorList(bad),
	} {
		errs["a cursor of "+name] = failure(guard.Cursor(t.Context(), 20, option))
	}
	for name, options := range map[string][]sealwaxmcp.Option{
		"no ledger":                   {sealwaxmcp.WithLedger(nil)},
		"a negative time limit":       {sealwaxmcp.WithTimeLimit(-time.Second)},
		"half a millisecond":          {sealwaxmcp.WithTimeLimit(500 * time.Microsecond)},
		"half a second":               {sealwaxmcp.WithRequestStateTTL(time.Second / 2)},
		"a negative tolerance":        {sealwaxmcp.WithLedger(records, sealwaxmcp.ClockTolerance(-time.Second))},
		"a label that is no text":     {sealwaxmcp.WithLedger(records, sealwaxmcp.Label(bad))},
		"an only that is no text":     {sealwaxmcp.WithOnly("x", bad)},
		"an only's target":            {sealwaxmcp.WithOnly(bad, "x")},
		"no function of the question": {sealwaxmcp.WithConfirmFunc("delete", nil)},
		"a question of an open brace": {sealwaxmcp.WithConfirm("delete", "Delete {id?")},
		"one that is no text":         {sealwaxmcp.WithConfirm("delete", "Delete \xff?")},
		"two fallbacks":               {sealwaxmcp.WithConfirm("delete", "Delete?", sealwaxmcp.Refuse, sealwaxmcp.Preview)},
		"two fallbacks for all":       {sealwaxmcp.WithConfirmDestructive(sealwaxmcp.Refuse, sealwaxmcp.Preview)},
	} {
		errs[name] = failure(sealwaxmcp.New(codec, sealwaxmcp.Anonymous, options...))
	}
	for name, err := range errs {
		if !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What an author seals is UTF-8, and for a request that is served: not by what a handler left behind, nor in a list, which brings no
// token and asks for no caller, so that its exchange begins with what a handler does. Sessions would begin it before.
func TestAHandlerSealsTextsWhileItIsServed(t *testing.T) {
	var left []context.Context
	var errs []error
	refused := sealwaxmcp.OnRefused(func(refusal sealwaxmcp.Refusal) { t.Errorf("refused %+v", refusal) })
	guard := must(sealwaxmcp.New(codecOf(freshKeys()), sealwaxmcp.Anonymous, refused))
	rows := must(guard.ReferenceHandles("row"))
	baskets := must(sealwaxmcp.NewSelfContainedHandles[string](guard, "basket"))
	server := mcp.NewServer(&mcp.Implementation{Name: "x"}, nil)
	server.AddTool(&mcp.Tool{Name: "seal", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			errs = []error{failure(guard.State(ctx, "Jos\xe8")), failure(baskets.Seal(ctx, "Jos\xe8"))}
			return textResult(""), nil
		})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" || method == "tools/call" {
				left = append(left, ctx)
			}
			return next(ctx, method, req)
		}
	})
	if err := guard.Protect(server); err != nil {
		t.Fatal(err)
	}
	c := within(t, server)
	must(c.ListTools(t.Context(), nil))
	must(call(t, c, "seal", nil))
	for _, ctx := range left {
		errs = append(errs, failure(guard.State(ctx, 1)), failure(rows.Mint(ctx)))
	}
	for _, err := range errs {
		if !errors.Is(err, sealwax.ErrInvalidArgument) || len(errs) != 6 {
			t.Errorf("sealed, of %d: %v", len(errs), err)
		}
	}
}

// The reason goes to the log as one line, and the client never hears it.
func TestTheLogSaysWhy(t *testing.T) {
	var text, members bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&text, nil)))
	defer slog.SetDefault(slog.New(slog.DiscardHandler))
	for _, logger := range []*slog.Logger{nil, slog.New(slog.NewJSONHandler(&members, nil))} {
		s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithLogger(logger))
		if told := cursors.present(t, within(t, s.server), "forged"); strings.Contains(told, "malformed") || !strings.Contains(told, "-32602") {
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
	if err := json.Unmarshal(members.Bytes(), &record); err != nil || record.Sealwax.Code != "malformed" || record.Sealwax.Method != "resources/list" || record.Level != "WARN" {
		t.Errorf("logged %s", members.String())
	}
}

// A ledger that fails, hangs or breaks off is the server's fault, and fails closed.
func TestALedgerThatDoesNotAnswerFailsClosed(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	for name, run := range map[string]func() ([]string, error){
		"late":   func() ([]string, error) { <-stuck; return []string{"ok", "0"}, nil },
		"fails":  func() ([]string, error) { return []string{"ok", "0"}, errors.New("password=hunter2") },
		"panics": func() ([]string, error) { panic("password=hunter2") },
		"exits":  func() ([]string, error) { runtime.Goexit(); return []string{"ok", "0"}, nil },
	} {
		s := newShop(codecOf(freshKeys()), principal(alice), sealwaxmcp.WithTimeLimit(time.Second), sealwaxmcp.WithLedger(running(run)))
		c := within(t, s.server)
		if told := states.present(t, c, states.good(t, c)); !strings.Contains(told, "-32603") || strings.Contains(told, "hunter2") {
			t.Errorf("%s: %s", name, told)
		}
		refusals := s.told()
		for i := range refusals {
			if strings.Contains(refusals[i].Message, "hunter2") {
				t.Errorf("%s: %s", name, refusals[i].Message)
			}
			refusals[i].Message, refusals[i].Time, refusals[i].ID = "", time.Time{}, ""
		}
		if !slices.Contains(refusals, sealwaxmcp.Refusal{
			Code: "ledger_unavailable", Kind: "request-state", Fault: true, Principal: alice(), Method: "tools/call", Target: "ask",
		}) {
			t.Errorf("%s: %+v", name, refusals)
		}
	}
}

type running func() ([]string, error)

func (r running) Run(context.Context, ledger.Command) ([]string, error) { return r() }

func TestFromToken(t *testing.T) {
	claims := map[string]any{"iss": "https://idp.example.com", "sub": "alice", "azp": "cli-7", "other": func() {}}
	ids := map[string]any{"iss": "https://idp.example.com", "client_id": "cli-7"}
	for name, one := range map[string]struct {
		info     *auth.TokenInfo
		expected sealwaxmcp.Principal
	}{
		"claims":                       {&auth.TokenInfo{Extra: claims}, alice()},
		"a user's id":                  {&auth.TokenInfo{UserID: "alice", Extra: ids}, alice()},
		"nobody":                       {nil, sealwaxmcp.Principal{}},
		"a subject without its issuer": {&auth.TokenInfo{UserID: "alice"}, sealwaxmcp.Principal{}},
	} {
		found, err := sealwaxmcp.FromToken.Principal(t.Context(), &mcp.RequestExtra{TokenInfo: one.info})
		if found != one.expected || (err != nil) != (one.info != nil && found.IsNobody()) {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
}

// What the guard's adapter takes for granted of the SDK, and no type of Go's says: a newer SDK that differs fails here.
func TestContract(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "contract", Version: "1"}, nil)
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
	mcp.AddTool(server, &mcp.Tool{Name: "raw"}, func(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		raw = string(req.Params.Arguments)
		return nil, nil, errors.New("of a typed handler")
	})
	arguments := json.RawMessage(`{"n":1e2,"a":"\u00e9"}`)
	result := must(call(t, within(t, server), "raw", arguments))
	if order := fmt.Sprint(order); order != "[outer inner]" {
		t.Errorf("middleware that was added last is the %s", order)
	}
	if raw != string(arguments) {
		t.Errorf("arguments come as %s", raw)
	}
	if !result.IsError {
		t.Error("an error of a typed handler is no result of its tool")
	}
}
