package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
	result := must(mcp.CallCustomMethod[*customParams, *customResult](t.Context(), c, "sessions/create", &customParams{}))
	if result.Session["sessionId"] == nil || result.Session["state"] == nil || result.Session["expiresAt"] == nil {
		t.Fatalf("created %v", result.Session)
	}
	return &held{t, c, result.Session}
}

// count counts in the session, and keeps what comes back of it.
func (h *held) count() string {
	h.t.Helper()
	result, err := h.client.CallTool(h.t.Context(), &mcp.CallToolParams{Name: "count", Meta: mcp.Meta{sessionKey: h.metadata}})
	if err != nil {
		return toldOf(nil, err)
	}
	if back, ok := result.Meta[sessionKey].(map[string]any); ok {
		for member, value := range back {
			h.metadata[member] = value
		}
	}
	return result.Content[0].(*mcp.TextContent).Text
}

func TestASessionCounts(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for way, connect := range ways(t, revision) {
			t.Run(revision+"/"+way, func(t *testing.T) {
				c := connect(t, "alice")
				// Several sessions of one client, side by side.
				one, other := began(t, c), began(t, c)
				id := one.metadata["sessionId"]
				for n := range 3 {
					if told := one.count(); told != fmt.Sprint(n+1) {
						t.Errorf("count: %s", told)
					}
				}
				if told := other.count(); told != "1" {
					t.Errorf("the other: %s", told)
				}
				// A connection more, of another process on stdio.
				one.client = connect(t, "alice")
				if told := one.count(); told != "4" || one.metadata["sessionId"] != id {
					t.Errorf("goes on: %s", told)
				}
				thief := &held{t, connect(t, "bob"), one.metadata}
				if told := thief.count(); !strings.Contains(told, `"code":-32043`) {
					t.Errorf("a thief: %s", told)
				}
				// A list never depends on a session.
				page := must(c.ListResources(t.Context(), nil))
				with := must(c.ListResources(t.Context(), &mcp.ListResourcesParams{Meta: mcp.Meta{sessionKey: one.metadata}}))
				if len(page.Resources) != len(with.Resources) {
					t.Error("a list depends on a session")
				}
			})
		}
	}
}

// The context of a request that is answered meanwhile has its session, or none.
func TestASessionsIDAfterTheAnswer(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	var left sync.WaitGroup
	s.tool("leave", func(ctx context.Context) (string, error) {
		for range 4 {
			left.Go(func() {
				for sealwaxmcp.SessionID(ctx) != "" {
				}
			})
		}
		return "", nil
	})
	session := began(t, within(t, s.server))
	for range 500 {
		must(session.client.CallTool(t.Context(), &mcp.CallToolParams{Name: "leave", Meta: mcp.Meta{sessionKey: session.metadata}}))
		left.Wait()
	}
}

// The official client of an older revision has a session, which any replica takes: nobody stores it.
func TestMcpSessionIDWithoutAStore(t *testing.T) {
	keys := freshKeys()
	url := listening(t, newShop(codecOf(keys), sealwaxmcp.FromToken), newShop(codecOf(keys), sealwaxmcp.FromToken))
	c := overHTTP(t, url, "alice", older)
	if c.ID() == "" {
		t.Fatal("no Mcp-Session-Id")
	}
	for range 4 {
		told := toldOf(call(t, c, "settled", nil))
		if !strings.Contains(told, older) || !strings.Contains(told, `\"name\":\"client\"`) {
			t.Errorf("settled: %s", told)
		}
	}
	// Everything else is not found, and looks alike.
	refused := raw(t, url, overHTTP(t, url, "bob", older).ID())
	for _, bad := range []string{c.ID() + "=", c.ID()[:40], "a guess", strings.Repeat("x", 20_000)} {
		if told := raw(t, url, bad); told != refused || !strings.HasPrefix(told, "404 ") {
			t.Errorf("refused: %s, and %s", told, refused)
		}
	}
	if told := raw(t, url, ""); !strings.HasPrefix(told, "400 ") {
		t.Errorf("without: %s", told)
	}
}

// raw calls a tool in an older revision, and returns the status and the body.
func raw(t *testing.T, url, session string) string {
	t.Helper()
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"settled","arguments":{}}}`
	response, body := posted(t, url, message, "Mcp-Protocol-Version", older, "Mcp-Session-Id", session)
	return fmt.Sprint(response.StatusCode, " ", body)
}

// line speaks on stdio, as a client of SEP-1359 does.
type line struct {
	t   *testing.T
	in  io.Writer
	out *json.Decoder
}

// heard is a message, and its text.
type heard struct {
	Text, Method, SessionID string
	ID                      json.RawMessage
	Result                  struct{ SessionID string }
}

func spawned(t *testing.T, keys, user string) *line {
	t.Helper()
	command := process(keys, user)
	in, out := must(command.StdinPipe()), must(command.StdoutPipe())
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = command.Process.Kill() })
	return &line{t, in, json.NewDecoder(out)}
}

// speaking speaks with a server in this process.
func speaking(t *testing.T, s *shop) *line {
	t.Helper()
	return speakingIn(t.Context(), t, s)
}

func speakingIn(ctx context.Context, t *testing.T, s *shop) *line {
	t.Helper()
	reads, in := io.Pipe()
	out, writes := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.server.Run(ctx, must(s.guard.IO(reads, writes)))
	}()
	t.Cleanup(func() {
		_, _ = in.Close(), out.Close()
		<-ended
	})
	return &line{t, in, json.NewDecoder(out)}
}

func (l *line) say(message string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, message+"\n"); err != nil {
		l.t.Fatal(err)
	}
}

func (l *line) hear() (found heard) {
	l.t.Helper()
	var message json.RawMessage
	if err := l.out.Decode(&message); err != nil {
		l.t.Fatal(err)
	}
	// An answer may have no result.
	_ = json.Unmarshal(message, &found)
	found.Text = string(message)
	return found
}

// begin begins a session, and returns its id.
func (l *line) begin() string {
	l.t.Helper()
	l.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},` +
		`"clientInfo":{"name":"client","version":"1"}}}`)
	begun := l.hear()
	if begun.Result.SessionID == "" {
		l.t.Fatalf("no session: %s", begun.Text)
	}
	return begun.Result.SessionID
}

// call calls a tool in a session.
func (l *line) call(id int, tool, arguments, session string) {
	l.t.Helper()
	l.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s},"sessionId":%q}`, id, tool, arguments, session))
}

// The session of SEP-1359 outlives the process, is its user's, and all else is refused in one way.
func TestOnStdioASessionOutlivesTheProcess(t *testing.T) {
	keys := freshKeys()
	first := spawned(t, keys, "alice")
	session := first.begin()
	first.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	later := spawned(t, keys, "alice")
	for _, process := range []*line{first, later, later} {
		process.call(2, "mint", "{}", session)
		if told := process.hear(); !strings.Contains(told.Text, `"ulid"`) || told.SessionID+told.Result.SessionID != session {
			t.Errorf("told %s", told.Text)
		}
	}
	bobs, strangers := spawned(t, keys, "bob"), spawned(t, freshKeys(), "alice")
	for bad, process := range map[string]*line{session + "=": later, "a guess": later, session: bobs, strangers.begin(): later} {
		process.call(3, "mint", "{}", bad)
		// Its data is the id that was sent, if that is well formed.
		if told := process.hear(); !strings.Contains(told.Text, `"error":{"code":-32003,"message":"Invalid or expired session"`) {
			t.Errorf("refused: %s", told.Text)
		}
	}
}

// What a handler of one client sends to another is of no request of its own client: it is of the other's only session.
func TestAHandlerWritesToAnotherClient(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	waiting, release := make(chan *mcp.ServerSession, 1), make(chan struct{})
	mcp.AddTool(s.server, &mcp.Tool{Name: "wait"}, func(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		waiting <- r.Session
		<-release
		return textResult("done"), nil, nil
	})
	var other *mcp.ServerSession
	s.tool("tell", func(ctx context.Context) (string, error) {
		return "done", other.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "told"})
	})
	here, there := speaking(t, s), speaking(t, s)
	session := there.begin()
	there.call(7, "wait", "{}", session)
	other = <-waiting
	here.call(8, "tell", "{}", here.begin())
	if told := there.hear(); !strings.Contains(told.Text, "progress") || !strings.Contains(told.Text, session) {
		t.Errorf("told %s", told.Text)
	}
	close(release)
	there.hear()
	here.hear()
}

// A server that is connected in the context of a message over HTTP has its own messages, which have no session of that one.
func TestAServerWithinARequest(t *testing.T) {
	var outer context.Context
	s, other := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken), newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	s.tool("keep", func(ctx context.Context) (string, error) { outer = context.WithoutCancel(ctx); return "", nil })
	for _, one := range []*shop{s, other} {
		one.tool("has an id", func(ctx context.Context) (string, error) { return fmt.Sprint(sealwaxmcp.SessionID(ctx) != ""), nil })
	}
	must(call(t, overHTTP(t, listening(t, s), "alice", older), "keep", nil))
	c := speakingIn(outer, t, other)
	c.call(2, "has an id", "{}", c.begin())
	if told := c.hear(); !strings.Contains(told.Text, `"text":"true"`) {
		t.Errorf("on the streams of another guard: told %s", told.Text)
	}
	theirs, ours := mcp.NewInMemoryTransports()
	must(s.server.Connect(outer, theirs, nil))
	url := serves(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler(true).ServeHTTP(w, r.WithContext(outer)) }))
	// In memory nobody is alice.
	for expected, transport := range map[string]mcp.Transport{"Authentication required": ours, `"text":"false"`: over(url, authorized{user: "alice"})} {
		if told := toldOf(call(t, connected(t, transport, older, nil), "has an id", nil)); !strings.Contains(told, expected) {
			t.Errorf("expected %s, told %s", expected, told)
		}
	}
}

// What a failed read cut off is no line; what the input ends with is one.
func TestALineThatIsCutOff(t *testing.T) {
	for end, expected := range map[error]bool{io.ErrUnexpectedEOF: false, io.EOF: true} {
		s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
		var out strings.Builder
		in := io.MultiReader(strings.NewReader(`{"jsonrpc`), iotest.ErrReader(end))
		_ = s.server.Run(t.Context(), must(s.guard.IO(in, &out)))
		if strings.Contains(out.String(), "Parse error") != expected {
			t.Errorf("%v: told %s", end, out.String())
		}
	}
}

// A question on stdio is of the session of its call, whatever session the last message was of.
func TestAQuestionOnStdioIsOfItsCallsSession(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmFunc("delete", func(context.Context, json.RawMessage) (string, error) {
		close(asked)
		<-goOn
		return "Delete it?", nil
	}))
	other := speaking(t, s).begin()
	c := speaking(t, s)
	own := c.begin()
	c.call(2, "delete", `{"id":7}`, own)
	<-asked
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"ping","sessionId":%q}`, other))
	c.hear()
	close(goOn)
	question := c.hear()
	if question.Method != "elicitation/create" || question.SessionID != own {
		t.Fatalf("heard %s", question.Text)
	}
	c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"choice":"yes"},"sessionId":%q}}`, question.ID, own))
	if answer := c.hear(); string(answer.ID) != "2" || !strings.Contains(answer.Text, "deleted") {
		t.Errorf("answered %s", answer.Text)
	}
}
