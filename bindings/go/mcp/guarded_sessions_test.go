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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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

// speaking speaks with a server in this process.
func speaking(ctx context.Context, t *testing.T, s *shop) *line {
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
	here, there := speaking(t.Context(), t, s), speaking(t.Context(), t, s)
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

// extras is a transport of the author's own, which says something of each message, but no header.
type extras struct {
	mcp.Transport
	mcp.Connection
}

func (e extras) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := e.Transport.Connect(ctx)
	return extras{nil, c}, err
}

func (e extras) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := e.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok {
		request.Extra = &mcp.RequestExtra{}
	}
	return message, err
}

// A server that is connected in the context of a message over HTTP has its own messages, which have no session of that one.
func TestAServerWithinARequest(t *testing.T) {
	var outer, early context.Context
	s, other := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken), newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	s.tool("keep", func(ctx context.Context) (string, error) { outer = context.WithoutCancel(ctx); return "", nil })
	for _, one := range []*shop{s, other} {
		one.tool("has an id", func(ctx context.Context) (string, error) { return fmt.Sprint(sealwaxmcp.SessionID(ctx) != ""), nil })
	}
	must(call(t, overHTTP(t, listening(t, s), "alice", older), "keep", nil))
	c := speaking(outer, t, other)
	c.call(2, "has an id", "{}", c.begin())
	if told := c.hear(); !strings.Contains(told.Text, `"text":"true"`) {
		t.Errorf("on the streams of another guard: told %s", told.Text)
	}
	url := serves(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.handler(true).ServeHTTP(w, r.WithContext(outer)) }))
	if told := toldOf(call(t, overHTTP(t, url, "alice", older), "has an id", nil)); !strings.Contains(told, `"text":"false"`) {
		t.Errorf("over HTTP: told %s", told)
	}
	// In memory nobody is alice, even before the SDK has her message.
	calls(t, serves(t, must(s.guard.HTTP(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		early = context.WithoutCancel(r.Context())
	})))), "has an id", `"arguments":{}`)
	for _, ctx := range []context.Context{outer, early} {
		theirs, ours := mcp.NewInMemoryTransports()
		must(s.server.Connect(ctx, extras{Transport: theirs}, nil))
		if told := toldOf(call(t, connected(t, ours, older, nil), "has an id", nil)); !strings.Contains(told, "Authentication required") {
			t.Errorf("in memory: told %s", told)
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
	other := speaking(t.Context(), t, s).begin()
	c := speaking(t.Context(), t, s)
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
