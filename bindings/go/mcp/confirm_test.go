package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
	"github.com/sealwax/sealwax-go/sealwaxtest"
)

type questionOf = func(context.Context, json.RawMessage) (string, error)

func TestWhatCannotBeAConfirmationIsRefused(t *testing.T) {
	for name, options := range map[string][]sealwaxmcp.Option{
		"no function":             {sealwaxmcp.WithConfirmFunc("delete", nil)},
		"no question":             {sealwaxmcp.WithConfirm("delete", "")},
		"an open brace":           {sealwaxmcp.WithConfirm("delete", "Delete {id?")},
		"an argument of no name":  {sealwaxmcp.WithConfirm("delete", "Delete {}?")},
		"one that is not bound":   {sealwaxmcp.WithConfirm("delete", "Delete {id} of {name}?"), sealwaxmcp.WithOnly("delete", "id")},
		"a fallback of no name":   {sealwaxmcp.WithConfirm("delete", "Delete {id}?", "model")},
		"two fallbacks":           {sealwaxmcp.WithConfirm("delete", "Delete?", sealwaxmcp.Refuse, sealwaxmcp.Preview)},
		"a fallback for all":      {sealwaxmcp.WithConfirmDestructive("model")},
		"two fallbacks for all":   {sealwaxmcp.WithConfirmDestructive(sealwaxmcp.Refuse, sealwaxmcp.Preview)},
		"half a second":           {sealwaxmcp.WithConfirmTTL(time.Second / 2)},
		"no time":                 {sealwaxmcp.WithConfirmTTL(0)},
		"a negative time":         {sealwaxmcp.WithConfirmTTL(-time.Second)},
		"more than 136 years":     {sealwaxmcp.WithConfirmTTL(5_000_000_000 * time.Second)},
		"a text that is no UTF-8": {sealwaxmcp.WithConfirm("delete", "Delete \xff?")},
	} {
		if _, err := sealwaxmcp.New(codecOf(freshKeys()), sealwaxmcp.Anonymous, options...); !errors.Is(err, sealwax.ErrInvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// desk is a server with a tool that its user confirms.
type desk struct {
	guard  *sealwaxmcp.Guard
	server *mcp.Server
	clock  *sealwaxtest.Clock

	mu       sync.Mutex
	refusals []sealwaxmcp.Refusal
	// ran has the params of each call that ran.
	ran []*mcp.CallToolParamsRaw
}

func newDesk(t *testing.T, who sealwaxmcp.Principals, options ...sealwaxmcp.Option) *desk {
	t.Helper()
	return newDeskWith(t, func(next mcp.MethodHandler) mcp.MethodHandler { return next }, who, options...)
}

// newDeskWith has a middleware inside of the guard.
func newDeskWith(t *testing.T, inside mcp.Middleware, who sealwaxmcp.Principals, options ...sealwaxmcp.Option) *desk {
	t.Helper()
	d := &desk{clock: sealwaxtest.NewClock(time.Now())}
	options = append(options, sealwaxmcp.WithLogger(quiet), sealwaxmcp.OnRefused(func(refusal sealwaxmcp.Refusal) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.refusals = append(d.refusals, refusal)
	}))
	d.guard = must(sealwaxmcp.New(sealwaxtest.NewCodec(t, d.clock), who, options...))
	d.server = mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1"}, &mcp.ServerOptions{Logger: quiet})
	mcp.AddTool(d.server, &mcp.Tool{Name: "delete"}, func(_ context.Context, req *mcp.CallToolRequest, _ note) (*mcp.CallToolResult, any, error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.ran = append(d.ran, req.Params)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "deleted"}}}, nil, nil
	})
	d.server.AddReceivingMiddleware(inside)
	if err := d.guard.Protect(d.server); err != nil {
		t.Fatal(err)
	}
	return d
}

// runs returns how many calls have run.
func (d *desk) runs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ran)
}

// codes returns the codes of what was refused.
func (d *desk) codes() (codes []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, refusal := range d.refusals {
		codes = append(codes, refusal.Code)
	}
	return codes
}

// asking connects the official client, of a revision, whose user answers; nil does not elicit.
func asking(t *testing.T, transport mcp.Transport, revision string, answer func(*mcp.ElicitParams) *mcp.ElicitResult) *mcp.ClientSession {
	t.Helper()
	options := &mcp.ClientOptions{Logger: quiet}
	if answer != nil {
		options.ElicitationHandler = func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return answer(req.Params), nil
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, options)
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

func (d *desk) inMemory(t *testing.T, revision string, answer func(*mcp.ElicitParams) *mcp.ElicitResult) *mcp.ClientSession {
	t.Helper()
	theirs, ours := mcp.NewInMemoryTransports()
	if _, err := d.server.Connect(t.Context(), theirs, nil); err != nil {
		t.Fatal(err)
	}
	return asking(t, ours, revision, answer)
}

func chooses(choice string) func(*mcp.ElicitParams) *mcp.ElicitResult {
	return func(*mcp.ElicitParams) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": choice}}
	}
}

// The official client asks its user, by the result of the call or on the connection, and the tool runs for a yes alone.
func TestAToolRunsForAYesAlone(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for name, one := range map[string]struct {
			answer func(*mcp.ElicitParams) *mcp.ElicitResult
			// after is how long the user takes.
			after time.Duration
			told  string
			runs  int
			codes []string
		}{
			"chooses yes":                       {chooses("yes"), 0, "deleted", 1, nil},
			"chooses no":                        {chooses("no"), 0, "The user declined. delete was not run.", 0, nil},
			"declines":                          {func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "decline"} }, 2 * time.Second, "The user declined.", 0, nil},
			"closes it":                         {func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} }, 2 * time.Second, "The user closed the question", 0, nil},
			"accepts, and sees it not":          {func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "accept"} }, 0, "needs the user's consent", 0, []string{"unconfirmed"}},
			"has a client that does not elicit": {nil, 0, "needs the user's consent", 0, []string{"unconfirmed"}},
		} {
			d := newDesk(t, sealwaxmcp.Anonymous, sealwaxmcp.WithConfirm("delete", "Delete note {id}?"))
			answer, words := one.answer, ""
			if answer != nil {
				answer = func(params *mcp.ElicitParams) *mcp.ElicitResult {
					words = params.Message
					d.clock.Advance(one.after)
					return one.answer(params)
				}
			}
			result, err := call(t, d.inMemory(t, revision, answer), "delete", note{7})
			if told := toldOf(result, err); !strings.Contains(told, one.told) || d.runs() != one.runs || !slices.Equal(d.codes(), one.codes) {
				t.Errorf("%s: a user who %s: told %s, ran %d times, refused %v", revision, name, told, d.runs(), d.codes())
			}
			if answer != nil && words != "Delete note 7?" {
				t.Errorf("%s: a user who %s was asked %q", revision, name, words)
			}
			if one.runs == 1 && (d.ran[0].RequestState != "" || d.ran[0].InputResponses != nil) {
				t.Errorf("%s: the handler saw %+v", revision, d.ran[0])
			}
		}
	}
}

// The SDK's own list tells which tools are asked about. While it hangs or panics all are, and it is not waited for.
func TestTheListTellsWhatIsAskedAbout(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for name, one := range map[string]struct {
			list  func(context.Context)
			words []string
		}{
			"is there": {func(context.Context) {}, []string{`Run delete with {"id":7}?`}},
			"hangs": {
				func(ctx context.Context) { <-ctx.Done(); time.Sleep(10 * time.Millisecond) },
				[]string{`Run "delete" with {"id":7}?`, `Run "show" with {"id":7}?`},
			},
			"panics": {
				func(context.Context) { panic("password=hunter2") },
				[]string{`Run "delete" with {"id":7}?`, `Run "show" with {"id":7}?`},
			},
		} {
			// It stands between the guard and the SDK's own.
			lists := func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					if method == "tools/list" {
						one.list(ctx)
					}
					return next(ctx, method, req)
				}
			}
			d := newDeskWith(t, lists, sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmDestructive())
			shows := &mcp.Tool{Name: "show", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}
			mcp.AddTool(d.server, shows, func(context.Context, *mcp.CallToolRequest, note) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "shown"}}}, nil, nil
			})
			var words []string
			c := d.inMemory(t, revision, func(params *mcp.ElicitParams) *mcp.ElicitResult {
				words = append(words, params.Message)
				return chooses("yes")(params)
			})
			for tool, text := range map[string]string{"show": "shown", "delete": "deleted"} {
				result, err := call(t, c, tool, note{7})
				if told := toldOf(result, err); !strings.Contains(told, text) {
					t.Errorf("%s: a list that %s: told %s", revision, name, told)
				}
			}
			slices.Sort(words)
			if !slices.Equal(words, one.words) {
				t.Errorf("%s: a list that %s: asked %q, refused %v", revision, name, words, d.codes())
			}
			for _, code := range d.codes() {
				if code != "invalid_argument" || len(one.words) == 1 {
					t.Errorf("%s: a list that %s: refused %v", revision, name, d.codes())
				}
			}
		}
	}
}

// The question is of the arguments, and where the author's function makes none, nothing runs. Neither client nor log gets what
// its error or its panic says.
func TestAFunctionMakesTheQuestion(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for name, one := range map[string]struct {
			question questionOf
			words    string
			told     string
			message  string
		}{
			"asks": {func(_ context.Context, arguments json.RawMessage) (string, error) {
				made := "Really " + string(arguments) + "?"
				// What the handler gets is what the user has agreed to.
				clear(arguments)
				return made, nil
			}, `Really {"id":7}?`, "deleted", ""},
			"fails":           {func(context.Context, json.RawMessage) (string, error) { return "", errors.New("password=hunter2") }, "", "-32603", "errorString"},
			"panics":          {func(context.Context, json.RawMessage) (string, error) { panic("password=hunter2") }, "", "-32603", "a panic at confirm_test.go:"},
			"makes nothing":   {func(context.Context, json.RawMessage) (string, error) { return " ", nil }, "", "-32603", "a text that is not empty"},
			"makes no text":   {func(context.Context, json.RawMessage) (string, error) { return "\xff", nil }, "", "-32603", "confirm: "},
			"waits till late": {func(context.Context, json.RawMessage) (string, error) { return "", context.DeadlineExceeded }, "", "-32603", "confirm: "},
		} {
			d := newDesk(t, sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmFunc("delete", one.question))
			words := ""
			c := d.inMemory(t, revision, func(params *mcp.ElicitParams) *mcp.ElicitResult {
				words = params.Message
				return chooses("yes")(params)
			})
			result, err := call(t, c, "delete", note{7})
			if told := toldOf(result, err); !strings.Contains(told, one.told) || strings.Contains(told, "hunter2") || words != one.words {
				t.Errorf("%s: a function that %s: asked %q, told %s", revision, name, words, told)
			}
			if one.message == "" {
				if d.runs() != 1 || string(d.ran[0].Arguments) != `{"id":7}` {
					t.Errorf("%s: ran %d times, with %s", revision, d.runs(), d.ran[0].Arguments)
				}
				continue
			}
			if d.runs() != 0 || len(d.refusals) != 1 {
				t.Errorf("%s: a function that %s: ran %d times, refused %+v", revision, name, d.runs(), d.refusals)
			} else if why := d.refusals[0]; !why.Fault || !strings.Contains(why.Message, one.message) || strings.Contains(why.Message, "hunter2") {
				t.Errorf("%s: a function that %s: refused %+v", revision, name, why)
			}
		}
	}
}

// Over HTTP an older client is asked in a session of the SDK's own, which the SDK keeps to its user: nobody else answers.
func TestOverHTTPAnOlderClientIsAskedInItsSession(t *testing.T) {
	for name, one := range map[string]struct {
		who       sealwaxmcp.Principals
		stateless bool
		// userID is what the verifier tells the SDK.
		userID string
		told   string
	}{
		"a session that the SDK keeps to its user": {sealwaxmcp.FromToken, false, "alice", "deleted"},
		"one that anybody could use":               {sealwaxmcp.FromToken, false, "", "needs the user's consent"},
		"one of an anonymous guard":                {sealwaxmcp.Anonymous, false, "", "deleted"},
		"none":                                     {sealwaxmcp.FromToken, true, "alice", "needs the user's consent"},
	} {
		d := newDesk(t, one.who, sealwaxmcp.WithConfirm("delete", "Delete note {id}?"))
		inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return d.server }, &mcp.StreamableHTTPOptions{Stateless: one.stateless, Logger: quiet})
		withUser := func(ctx context.Context, token string, r *http.Request) (*auth.TokenInfo, error) {
			info, err := verify(ctx, token, r)
			if err == nil {
				info.UserID = one.userID
			}
			return info, err
		}
		server := httptest.NewServer(auth.RequireBearerToken(withUser, nil)(inner))
		t.Cleanup(server.Close)
		transport := &mcp.StreamableClientTransport{
			Endpoint: server.URL, HTTPClient: &http.Client{Transport: authorized{"alice"}}, DisableStandaloneSSE: true,
		}
		result, err := call(t, asking(t, transport, older, chooses("yes")), "delete", note{7})
		if told := toldOf(result, err); !strings.Contains(told, one.told) || (d.runs() == 1) != (one.told == "deleted") {
			t.Errorf("%s: told %s, ran %d times", name, told, d.runs())
		}
	}
}

// spoken is a conversation on stdio, line by line.
type spoken struct {
	t      *testing.T
	writer io.Writer
	reader *json.Decoder
}

func (d *desk) speaking(t *testing.T) *spoken {
	t.Helper()
	reads, writer := io.Pipe()
	reader, writes := io.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = d.server.Run(t.Context(), must(d.guard.IO(reads, writes)))
	}()
	t.Cleanup(func() {
		_ = writer.Close()
		_ = reader.Close()
		<-ended
	})
	return &spoken{t, writer, json.NewDecoder(reader)}
}

func (s *spoken) say(format string, given ...any) {
	s.t.Helper()
	if _, err := fmt.Fprintf(s.writer, format+"\n", given...); err != nil {
		s.t.Fatal(err)
	}
}

func (s *spoken) hear() (heard struct {
	ID        json.RawMessage
	Method    string
	SessionID string
	Result    json.RawMessage
}) {
	s.t.Helper()
	if err := s.reader.Decode(&heard); err != nil {
		s.t.Fatal(err)
	}
	return heard
}

// begin begins a session, and returns its id.
func (s *spoken) begin() string {
	s.t.Helper()
	s.say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{"elicitation":{}},`+
		`"clientInfo":{"name":"client","version":"1"}}}`, older)
	var begun struct{ SessionID string }
	if err := json.Unmarshal(s.hear().Result, &begun); err != nil || begun.SessionID == "" {
		s.t.Fatalf("no session: %v", err)
	}
	return begun.SessionID
}

// A question on stdio is of the session of its call, whatever session the last message was of.
func TestAQuestionOnStdioIsOfItsCallsSession(t *testing.T) {
	asked, goOn := make(chan struct{}), make(chan struct{})
	d := newDesk(t, sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmFunc("delete", func(context.Context, json.RawMessage) (string, error) {
		close(asked)
		<-goOn
		return "Delete it?", nil
	}))
	other := d.speaking(t).begin()
	s := d.speaking(t)
	own := s.begin()
	s.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"delete","arguments":{"id":7}},"sessionId":%q}`, own)
	<-asked
	s.say(`{"jsonrpc":"2.0","id":2,"method":"ping","sessionId":%q}`, other)
	s.hear()
	close(goOn)
	question := s.hear()
	if question.Method != "elicitation/create" || question.SessionID != own {
		t.Fatalf("heard %s of the session %.20s", question.Method, question.SessionID)
	}
	s.say(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"choice":"yes"},"sessionId":%q}}`, question.ID, own)
	if answer := s.hear(); string(answer.ID) != "1" || !strings.Contains(string(answer.Result), "deleted") {
		t.Errorf("answered %s: %s", answer.ID, answer.Result)
	}
}
