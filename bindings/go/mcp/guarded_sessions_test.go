package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

const sessionKey = "io.modelcontextprotocol/session"

// held is a session as its client holds it.
type held struct {
	t        *testing.T
	client   *mcp.ClientSession
	metadata map[string]any
}

func began(t *testing.T, c *mcp.ClientSession) *held {
	t.Helper()
	result, err := mcp.CallCustomMethod[*customParams, *customResult](t.Context(), c, "sessions/create", &customParams{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Session["sessionId"] == nil || result.Session["state"] == nil || result.Session["expiresAt"] == nil {
		t.Fatalf("created %v", result.Session)
	}
	return &held{t, c, result.Session}
}

// call calls a tool in the session, and keeps what comes back of it.
func (h *held) call(name string, arguments any) string {
	h.t.Helper()
	kept := map[string]any{"sessionId": h.metadata["sessionId"], "state": h.metadata["state"]}
	result, err := h.client.CallTool(h.t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments, Meta: mcp.Meta{sessionKey: kept}})
	if err != nil {
		return toldOf(nil, err)
	}
	if back, ok := result.Meta[sessionKey].(map[string]any); ok {
		for member, value := range back {
			h.metadata[member] = value
		}
	}
	if len(result.Content) == 0 {
		return ""
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func TestASessionCounts(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for _, way := range ways(t, revision) {
			t.Run(revision+"/"+way.name, func(t *testing.T) {
				c := way.connect(t, "alice")
				one, other := began(t, c), began(t, c)
				id := one.metadata["sessionId"]
				for n := range 3 {
					if told := one.call("count", nil); told != fmt.Sprint(n+1) {
						t.Errorf("count: %s", told)
					}
				}
				// Several sessions of one client, side by side; and a connection more, of another process on stdio.
				if told := other.call("count", nil); told != "1" {
					t.Errorf("the other: %s", told)
				}
				one.client = way.connect(t, "alice")
				if told := one.call("count", nil); told != "4" || one.metadata["sessionId"] != id {
					t.Errorf("goes on: %s", told)
				}
				if text := string(must(json.Marshal(one.metadata))); strings.Contains(text, `"4"`) {
					t.Errorf("readable: %s", text)
				}
				thief := *one
				thief.client = way.connect(t, "bob")
				expected := `"code":-32043`
				if told := thief.call("count", nil); !strings.Contains(told, expected) {
					t.Errorf("a thief: %s", told)
				}
				crossed := &held{t, c, map[string]any{"sessionId": one.metadata["sessionId"], "state": other.metadata["state"]}}
				if told := crossed.call("count", nil); !strings.Contains(told, expected) {
					t.Errorf("another's state: %s", told)
				}
				without := &held{t, c, map[string]any{"sessionId": one.metadata["sessionId"]}}
				if told := without.call("count", nil); !strings.Contains(told, expected) {
					t.Errorf("without its state: %s", told)
				}
				if told := toldOf(call(t, c, "count", nil)); strings.Contains(told, `"1"`) {
					t.Errorf("without a session: %s", told)
				}
				// A list never depends on a session.
				page := must(c.ListResources(t.Context(), nil))
				with := must(c.ListResources(t.Context(), &mcp.ListResourcesParams{Meta: mcp.Meta{sessionKey: map[string]any{
					"sessionId": one.metadata["sessionId"], "state": one.metadata["state"],
				}}}))
				if len(page.Resources) != len(with.Resources) {
					t.Error("a list depends on a session")
				}
			})
		}
	}
}

// A state that cannot be sealed is the author's mistake, which the log and the hooks hear of whatever the handler makes of it.
func TestTooLargeAStateIsLogged(t *testing.T) {
	for name, who := range map[string]sealwaxmcp.Principals{
		"": sealwaxmcp.Anonymous,
		"alice": sealwaxmcp.PrincipalFunc(func(context.Context, *mcp.RequestExtra) (sealwaxmcp.Principal, error) {
			return sealwax.Subject("alice"), nil
		}),
	} {
		s := newShop(codecOf(freshKeys(), sealwax.WithPayloadLimit(1024)), who)
		var failed error
		mcp.AddTool(s.server, &mcp.Tool{Name: "large"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			_, failed = s.guard.State(ctx, strings.Repeat("x", 2000))
			return &mcp.CallToolResult{}, nil, nil
		})
		must(call(t, within(t, s.server), "large", nil))
		if !errors.Is(failed, sealwax.ErrTooLarge) {
			t.Errorf("%q: the handler hears %v", name, failed)
		}
		if len(s.refusals) != 1 {
			t.Fatalf("%q: refused %+v", name, s.refusals)
		}
		found := s.refusals[0]
		subject, _ := found.Principal.Subject()
		if found.Code != "too_large" || found.Kind != "request-state" || found.Method != "tools/call" || found.Target != "large" || subject != name {
			t.Errorf("%q: refused %+v", name, found)
		}
	}
}

// within connects the official client to a server in this process.
func within(t *testing.T, server *mcp.Server) *mcp.ClientSession {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	return connected(t, ours, newest, false)
}

// The official client of an older revision has a session, which any replica takes: nobody stores it.
func TestMcpSessionIDWithoutAStore(t *testing.T) {
	keys := freshKeys()
	replicas := [2]*shop{newShop(codecOf(keys), sealwaxmcp.FromToken), newShop(codecOf(keys), sealwaxmcp.FromToken)}
	urls := [2]string{listening(t, replicas[0]), listening(t, replicas[1])}
	var mu sync.Mutex
	turn, ids := 0, map[string]bool{}
	// In front of the two, each request goes to the next.
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		url := urls[turn%2]
		turn++
		ids[r.Header.Get("Mcp-Session-Id")] = true
		mu.Unlock()
		forward(w, r, url)
	}))
	defer proxy.Close()
	c := overHTTP(t, proxy.URL, "alice", older)
	if c.ID() == "" {
		t.Fatal("no Mcp-Session-Id")
	}
	for range 4 {
		result, err := call(t, c, "settled", nil)
		if told := toldOf(result, err); !strings.Contains(told, older) || !strings.Contains(told, `\"name\":\"client\"`) {
			t.Errorf("settled: %s", told)
		}
	}
	if len(ids) != 2 || !ids[c.ID()] {
		t.Errorf("sent %d ids", len(ids))
	}
	// Everything else is not found, and looks alike.
	var answers []string
	for _, bad := range []string{c.ID() + "=", c.ID()[:40], "a guess", strings.Repeat("x", 20_000), must(must(codecOf(freshKeys()).View(alice())).Session().Seal([]byte("{}")))} {
		answers = append(answers, raw(t, urls[0], "alice", bad))
	}
	answers = append(answers, raw(t, urls[0], "bob", c.ID()))
	for _, told := range answers {
		if told != answers[0] || !strings.HasPrefix(told, "404 ") {
			t.Errorf("refused: %s, and %s", told, answers[0])
		}
	}
	if told := raw(t, urls[0], "alice", ""); !strings.HasPrefix(told, "400 ") {
		t.Errorf("without: %s", told)
	}
}

// forward sends a request on.
func forward(w http.ResponseWriter, r *http.Request, url string) {
	request := must(http.NewRequestWithContext(r.Context(), r.Method, url, r.Body))
	request.Header = r.Header
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body)
}

// raw calls a tool in an older revision, and returns the status and the body.
func raw(t *testing.T, url, user, session string) string {
	t.Helper()
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"settled","arguments":{}}}`
	request := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message)))
	for header, value := range map[string]string{
		"Authorization": "Bearer " + bearer(user), "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		"Mcp-Protocol-Version": older,
	} {
		request.Header.Set(header, value)
	}
	if session != "" {
		request.Header.Set("Mcp-Session-Id", session)
	}
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	return fmt.Sprint(response.StatusCode, " ", readAll(t, response))
}

// line speaks to a process on stdio, as a client of SEP-1359 does.
type line struct {
	t      *testing.T
	in     io.WriteCloser
	out    *json.Decoder
	finish func() error
}

func spawned(t *testing.T, keys, user string) *line {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), serving+"="+user, "SEALWAX_KEYS="+keys)
	in, out := must(command.StdinPipe()), must(command.StdoutPipe())
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	spoken := &line{t, in, json.NewDecoder(out), command.Wait}
	t.Cleanup(func() { _ = in.Close(); _ = command.Process.Kill() })
	return spoken
}

func (l *line) say(message string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, message+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) hear() string {
	l.t.Helper()
	var message json.RawMessage
	if err := l.out.Decode(&message); err != nil {
		l.t.Fatal(err)
	}
	return string(message)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"client","version":"1"}}}`

// The session of SEP-1359 outlives the process, is its user's, and all else is refused in one way.
func TestOnStdioASessionOutlivesTheProcess(t *testing.T) {
	keys := freshKeys()
	first := spawned(t, keys, "alice")
	first.say(initialize)
	var begun struct{ Result struct{ SessionID string } }
	if err := json.Unmarshal([]byte(first.hear()), &begun); err != nil || begun.Result.SessionID == "" {
		t.Fatal("no session", err)
	}
	called := func(session string) string {
		return `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mint","arguments":{}},"sessionId":` + string(must(json.Marshal(session))) + `}`
	}
	first.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, process := range []*line{first, spawned(t, keys, "alice"), spawned(t, keys, "alice")} {
		for range 2 {
			process.say(called(begun.Result.SessionID))
			if told := process.hear(); !strings.Contains(told, `"ulid"`) || !strings.Contains(told, begun.Result.SessionID) {
				t.Errorf("told %s", told)
			}
		}
	}
	bad := spawned(t, keys, "alice")
	var answers []string
	for _, session := range []string{begun.Result.SessionID + "=", "a guess", must(must(codecOf(freshKeys()).View(sealwax.Subject("alice"))).Session().Seal([]byte("{}")))} {
		bad.say(called(session))
		answers = append(answers, strings.ReplaceAll(bad.hear(), session, "IT"))
	}
	bobs := spawned(t, keys, "bob")
	bobs.say(called(begun.Result.SessionID))
	answers = append(answers, strings.ReplaceAll(bobs.hear(), begun.Result.SessionID, "IT"))
	for _, told := range answers {
		// Its data is the id that was sent, if that is well formed.
		if !strings.Contains(told, `"error":{"code":-32003,"message":"Invalid or expired session"`) {
			t.Errorf("refused: %s", told)
		}
	}
	// What is no message is answered, and the conversation goes on.
	bad.say(`{"jsonrpc`)
	if told := bad.hear(); !strings.Contains(told, "Parse error") {
		t.Errorf("told %s", told)
	}
	bad.say(called(begun.Result.SessionID))
	if told := bad.hear(); !strings.Contains(told, `"ulid"`) {
		t.Errorf("told %s", told)
	}
}

// Whatever handler stands behind the guard has the session without its token, and a body that the guard changes has another length.
func TestAHandlerBehindTheGuard(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	var seen http.Header
	inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		const body = `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = io.WriteString(w, body)
	})
	server := httptest.NewServer(must(s.guard.HTTP(inner, sealwaxmcp.SEP1359())))
	t.Cleanup(server.Close)
	send := func(session, message string) (string, string) {
		t.Helper()
		request := must(http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(message)))
		request.Header.Set("Content-Type", "application/json")
		if session != "" {
			request.Header.Set("Mcp-Session-Id", session)
		}
		response := must(http.DefaultClient.Do(request))
		defer response.Body.Close()
		return response.Header.Get("Mcp-Session-Id"), readAll(t, response)
	}
	session, told := send("", initialize)
	if !json.Valid([]byte(told)) || !strings.Contains(told, session) || session == "" {
		t.Errorf("session %q: %s", session, told)
	}
	send(session, `{"jsonrpc":"2.0","id":1,"method":"ping","sessionId":"`+session+`"}`)
	if found := seen.Get("Mcp-Session-Id"); seen == nil || found != "" {
		t.Errorf("the handler saw %q", found)
	}
}

// What a handler of one client sends to another is of no request of its own client: it is of the other's only session.
func TestAHandlerWritesToAnotherClient(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	waiting, release := make(chan *mcp.ServerSession, 1), make(chan struct{})
	var other *mcp.ServerSession
	add := func(name string, work func(context.Context, *mcp.CallToolRequest) error) {
		mcp.AddTool(s.server, &mcp.Tool{Name: name}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, work(ctx, r)
		})
	}
	add("wait", func(_ context.Context, r *mcp.CallToolRequest) error {
		waiting <- r.Session
		<-release
		return nil
	})
	add("tell", func(ctx context.Context, _ *mcp.CallToolRequest) error {
		return other.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "told"})
	})
	open := func() *line {
		reads, in := io.Pipe()
		out, writes := io.Pipe()
		go func() { _ = s.server.Run(t.Context(), must(s.guard.IO(reads, writes, sealwaxmcp.SEP1359()))) }()
		t.Cleanup(func() { _, _ = in.Close(), out.Close() })
		return &line{t, in, json.NewDecoder(out), nil}
	}
	begin := func(client *line) string {
		client.say(initialize)
		var begun struct{ Result struct{ SessionID string } }
		if err := json.Unmarshal([]byte(client.hear()), &begun); err != nil {
			t.Fatal(err)
		}
		return begun.Result.SessionID
	}
	call := func(client *line, id, tool, session string) {
		client.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}},"sessionId":"` + session + `"}`)
	}
	here, there := open(), open()
	session := begin(there)
	call(there, "7", "wait", session)
	other = <-waiting
	call(here, "8", "tell", begin(here))
	if told := there.hear(); !strings.Contains(told, "progress") || !strings.Contains(told, session) {
		t.Errorf("told %s", told)
	}
	close(release)
	there.hear()
	here.hear()
}
