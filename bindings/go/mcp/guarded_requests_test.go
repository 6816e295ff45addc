package sealwaxmcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

var quiet = slog.New(slog.DiscardHandler)

func freshKeys() string { return must(must(sealwax.GenerateKey()).Text()) }

func codecOf(keys string, options ...sealwax.Option) *sealwax.Codec {
	return must(sealwax.New(must(sealwax.ParseKeyRing(keys)), audience, options...))
}

// carrier is something that a guard seals, as a client gets, keeps and presents it.
type carrier struct {
	name string
	// good gets one, and present brings one, or none for an empty text, and returns all that the client is told.
	good    func(t *testing.T, c *mcp.ClientSession) string
	present func(t *testing.T, c *mcp.ClientSession, token string) string
	// taken is in what a client is told of a good one.
	taken string
	// forge makes one as a replica would, for a view.
	forge func(view *sealwax.View, ttl ...sealwax.Lifetime) string
	// other is the same for another request, list or type.
	other func(view *sealwax.View) string
	// refused has the codes that a refusal of this kind has.
	modernOnly bool
}

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

func structured(t *testing.T, result *mcp.CallToolResult, err error) map[string]any {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	found, ok := result.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("no structured content in %s", toldOf(result, nil))
	}
	return found
}

func requestOf(target string, arguments string) sealwax.RequestContext {
	return must(sealwax.NewRequestContext("tools/call", target, json.RawMessage(arguments)))
}

var carriers = []carrier{
	{
		name: "requestState", modernOnly: true, taken: `"asked":7`,
		good: func(t *testing.T, c *mcp.ClientSession) string {
			result, err := call(t, c, "ask", note{7})
			if err != nil || !result.NeedsInput() || result.RequestState == "" {
				t.Fatalf("not asked: %s", toldOf(result, err))
			}
			return result.RequestState
		},
		present: func(t *testing.T, c *mcp.ClientSession, token string) string {
			result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: note{7}, RequestState: token})
			return toldOf(result, err)
		},
		forge: func(view *sealwax.View, ttl ...sealwax.Lifetime) string {
			return must(view.RequestState(requestOf("ask", `{"id":7}`)).Seal([]byte(`{"asked":7}`), ttl...))
		},
		other: func(view *sealwax.View) string {
			return must(view.RequestState(requestOf("ask", `{"id":8}`)).Seal([]byte(`{"asked":7}`)))
		},
	},
	{
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
		forge: nil,
		other: func(view *sealwax.View) string { return must(view.Cursor("tools/list").Seal([]byte("10"))) },
	},
	{
		name: "reference handle", taken: `"ulid"`,
		good: func(t *testing.T, c *mcp.ClientSession) string {
			result, err := call(t, c, "mint", nil)
			return structured(t, result, err)["handle"].(string)
		},
		present: func(t *testing.T, c *mcp.ClientSession, token string) string {
			return toldOf(call(t, c, "check", handle{token}))
		},
		other: func(view *sealwax.View) string { return must(view.MintHandle("basket")) },
	},
	{
		name: "self-contained handle", taken: `"item 0"`,
		good: func(t *testing.T, c *mcp.ClientSession) string {
			result, err := call(t, c, "seal", nil)
			return structured(t, result, err)["handle"].(string)
		},
		present: func(t *testing.T, c *mcp.ClientSession, token string) string {
			return toldOf(call(t, c, "add", handle{token}))
		},
		forge: func(view *sealwax.View, ttl ...sealwax.Lifetime) string {
			return must(view.HandleState("basket").Seal([]byte(`[]`), ttl...))
		},
		other: func(view *sealwax.View) string { return must(view.HandleState("row").Seal([]byte(`[]`))) },
	},
}

func alice() sealwax.Principal {
	return sealwax.Subject("alice").WithClient("cli-7").WithIssuer("https://idp.example.com")
}

// transported is a way to a server: how users reach it, and what it logged.
type transported struct {
	name    string
	connect func(t *testing.T, user string) *mcp.ClientSession
	codes   func() []string
	view    *sealwax.View
	// retired is a view under a key that the server does not have any more.
	retired *sealwax.View
}

func ways(t *testing.T, revision string) []transported {
	keys, old := freshKeys(), freshKeys()
	s := newShop(codecOf(keys), sealwaxmcp.FromToken)
	url := listening(t, s)
	piped := sealwax.Subject("alice")
	return []transported{
		{
			"HTTP", func(t *testing.T, user string) *mcp.ClientSession { return overHTTP(t, url, user, revision) }, s.codes,
			must(codecOf(keys).View(alice())), must(codecOf(old).View(alice())),
		},
		{
			"stdio", func(t *testing.T, user string) *mcp.ClientSession { return overStdio(t, keys, user, revision) }, nil,
			must(codecOf(keys).View(piped)), must(codecOf(old).View(piped)),
		},
	}
}

// What a guard seals opens for whom it was made, and the client gets one answer to everything else.
func TestWhatIsSealedOpensForWhomItWasMade(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for _, way := range ways(t, revision) {
			for _, one := range carriers {
				if one.modernOnly && revision == older {
					continue
				}
				t.Run(revision+"/"+way.name+"/"+one.name, func(t *testing.T) {
					alices, bobs := way.connect(t, "alice"), way.connect(t, "bob")
					token := one.good(t, alices)
					if strings.Contains(token, "asked") || strings.Contains(token, "item") {
						t.Errorf("readable: %s", token)
					}
					if told := one.present(t, alices, token); !strings.Contains(told, one.taken) {
						t.Errorf("a good one: %s", told)
					}
					bad := map[string]string{
						"altered": token[:len(token)-5] + flipped(token[len(token)-5:]), "cut": token[:len(token)-1], "padded": token + "=",
						"a guess": "production", "too large": strings.Repeat(token, 1<<20/len(token)),
						"of another thing": one.other(way.view), "of a retired key": one.other(way.retired),
					}
					if one.forge != nil {
						if told := one.present(t, alices, one.forge(way.view)); !strings.Contains(told, one.taken) {
							t.Errorf("of a replica: %s", told)
						}
						bad["of a retired key"] = one.forge(way.retired)
					}
					answers := map[string]string{"another user's": one.present(t, bobs, token)}
					for why, text := range bad {
						answers[why] = one.present(t, alices, text)
					}
					first := answers["altered"]
					for why, told := range answers {
						if told != first || strings.Contains(told, one.taken) {
							t.Errorf("%s: %s, and another: %s", why, told, first)
						}
					}
					if way.codes != nil {
						if codes := way.codes(); len(codes) != len(answers) || slices.Contains(codes, "internal_error") {
							t.Errorf("logged %v", codes)
						}
					}
				})
			}
		}
	}
}

func flipped(text string) string {
	if text[0] == 'a' {
		return "b" + text[1:]
	}
	return "a" + text[1:]
}

func TestPromptsAndResourcesHaveRoundsToo(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
	url := listening(t, s)
	c, bobs := overHTTP(t, url, "alice", newest), overHTTP(t, url, "bob", newest)
	quiz := &mcp.GetPromptParams{Name: "quiz", Arguments: map[string]string{"id": "7"}}
	asked := must(c.GetPrompt(t.Context(), quiz))
	again := *quiz
	again.RequestState = asked.RequestState
	if told := toldOf(c.GetPrompt(t.Context(), &again)); !strings.Contains(told, "asked 7") {
		t.Errorf("prompt: %s", told)
	}
	read := must(c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "item:///01"}))
	item := &mcp.ReadResourceParams{URI: "item:///01", RequestState: read.RequestState}
	if told := toldOf(c.ReadResource(t.Context(), item)); !strings.Contains(told, "asked 7") {
		t.Errorf("resource: %s", told)
	}
	refusals := []string{
		toldOf(bobs.GetPrompt(t.Context(), &again)),
		toldOf(bobs.ReadResource(t.Context(), item)),
		toldOf(c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "item:///02", RequestState: read.RequestState})),
		toldOf(c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "quiz", Arguments: map[string]string{"id": "8"}, RequestState: asked.RequestState})),
		toldOf(c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "quiz", RequestState: asked.RequestState})),
	}
	for _, told := range refusals {
		if told != refusals[0] || !strings.Contains(told, "-32602") {
			t.Errorf("refused: %s", told)
		}
	}
	if codes := s.codes(); len(codes) != len(refusals) {
		t.Errorf("logged %v", codes)
	}
}

// The official client asks its user, and comes back with the state by itself.
func TestTheOfficialClientAsksItsUser(t *testing.T) {
	url := listening(t, newShop(codecOf(freshKeys()), sealwaxmcp.FromToken))
	transport := &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: authorized{"alice"}}, DisableStandaloneSSE: true}
	result, err := call(t, connected(t, transport, newest, true), "ask", note{7})
	expected := map[string]any{"id": 7.0, "asked": 7.0, "action": "accept"}
	if found := structured(t, result, err); !reflect.DeepEqual(found, expected) {
		t.Errorf("found %v", found)
	}
}

// For an older client the SDK asks by itself, within one request: no state leaves the server, and the handler reads its own.
func TestAnOlderClientGetsNoState(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	stateful := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.server }, &mcp.StreamableHTTPOptions{Logger: quiet})
	var sent strings.Builder
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		stateful.ServeHTTP(&tee{ResponseWriter: w, mu: &mu, to: &sent}, r)
	}))
	defer server.Close()
	c := connected(t, &mcp.StreamableClientTransport{Endpoint: server.URL}, older, true)
	result, err := call(t, c, "ask", note{7})
	expected := map[string]any{"id": 7.0, "asked": 7.0, "action": "accept"}
	if found := structured(t, result, err); !reflect.DeepEqual(found, expected) {
		t.Errorf("found %v", found)
	}
	_ = c.Close()
	mu.Lock()
	defer mu.Unlock()
	if text := sent.String(); strings.Contains(text, "requestState") || !strings.Contains(text, "elicitation/create") {
		t.Errorf("sent %s", text)
	}
}

type tee struct {
	http.ResponseWriter
	mu *sync.Mutex
	to *strings.Builder
}

func (t *tee) Write(p []byte) (int, error) {
	t.mu.Lock()
	t.to.Write(p)
	t.mu.Unlock()
	return t.ResponseWriter.Write(p)
}

func (t *tee) Flush() { t.ResponseWriter.(http.Flusher).Flush() }

func TestAStateIsUsedOnce(t *testing.T) {
	// Two replicas.
	codec, records := codecOf(freshKeys()), sealwaxmcp.WithLedger(must(ledger.NewMemory()))
	s, other := newShop(codec, sealwaxmcp.FromToken, records), newShop(codec, sealwaxmcp.FromToken, records)
	c, elsewhere := overHTTP(t, listening(t, s), "alice", newest), overHTTP(t, listening(t, other), "alice", newest)
	one := carriers[0]
	token := one.good(t, c)
	if told := one.present(t, c, token); !strings.Contains(told, one.taken) {
		t.Errorf("first: %s", told)
	}
	for _, at := range []*mcp.ClientSession{c, elsewhere} {
		if told := one.present(t, at, token); told != one.present(t, at, token+"=") {
			t.Errorf("again: %s", told)
		}
	}
	row := carriers[2]
	token = row.good(t, c)
	if result, err := call(t, c, "end", handle{token}); err != nil || result.IsError {
		t.Fatalf("not ended: %s", toldOf(result, err))
	}
	for _, at := range []*mcp.ClientSession{c, elsewhere} {
		if told := row.present(t, at, token); told != row.present(t, at, token+"a") {
			t.Errorf("ended: %s", told)
		}
	}
}

// post sends a message of the newest revision as it is, and returns the message that answers it.
func post(t *testing.T, url, message, name string) string {
	t.Helper()
	request := must(http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(message)))
	for header, value := range map[string]string{
		"Authorization": "Bearer " + bearer("alice"), "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		"Mcp-Protocol-Version": newest, "Mcp-Method": "tools/call", "Mcp-Name": name,
	} {
		request.Header.Set(header, value)
	}
	response := must(http.DefaultClient.Do(request))
	defer response.Body.Close()
	var body strings.Builder
	if _, err := fmt.Fprint(&body, readAll(t, response)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(body.String()) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
	return body.String()
}

// What a client writes in another manner is none of what the guard opens: neither it nor the handler sees it. Around HTTP it is
// refused (tests/vectors/wire.json).
func TestNoOtherSpellingIsAState(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
	url := serves(t, s.stateless())
	meta := `"_meta":{"requestState":"{\"asked\":7}","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, spelling := range []string{"RequestState", "requeststate", "request_state", "REQUESTSTATE", "requestState "} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"id":7},"` + spelling +
			`":"{\"asked\":7}",` + meta + `}}`
		if told := post(t, url, message, "ask"); !strings.Contains(told, `"resultType":"input_required"`) {
			t.Errorf("%s: %s", spelling, told)
		}
	}
	// Of a member that is sent twice, the guard and the handler see the same one.
	sealed := carriers[0].good(t, overHTTP(t, url, "alice", newest))
	for _, order := range [][2]string{{sealed, `{\"asked\":9}`}, {`{\"asked\":9}`, sealed}} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"id":7},"requestState":"` + order[0] +
			`","requestState":"` + order[1] + `",` + meta + `}}`
		if told := post(t, url, message, "ask"); strings.Contains(told, `"asked":9`) {
			t.Errorf("%s", told)
		}
	}
}

// What the SDK's types refuse, or cannot tell from an absent member, never reaches the guard, nor a handler.
func TestWhatTheSDKRefusesByItself(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
	url := listening(t, s)
	for sent, expected := range map[string]string{
		`7`: `"error":`, `true`: `"error":`, `["x"]`: `"error":`, `{"x":1}`: `"error":`, `""`: `"resultType":"input_required"`,
	} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"id":7},"requestState":` + sent +
			`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		if told := post(t, url, message, "ask"); !strings.Contains(told, expected) {
			t.Errorf("%s: %s", sent, told)
		}
	}
	if codes := s.codes(); len(codes) != 0 {
		t.Errorf("logged %v", codes)
	}
}

// A refused handle is a result of the tool in every kind of tool, complete for clients that want to know.
func TestARefusedHandleIsAResult(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
	url := listening(t, s)
	var told []string
	for _, tool := range []string{"check", "low"} {
		body := post(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"handle":"row_x"},`+
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool), tool)
		told = append(told, body)
		if !strings.Contains(body, `"resultType":"complete"`) || !strings.Contains(body, `"isError":true`) {
			t.Errorf("%s: %s", tool, body)
		}
	}
	if told[0] != told[1] {
		t.Errorf("%s, and %s", told[0], told[1])
	}
}
