package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// hiddenParams and hiddenResult read and write JSON by themselves, and show no cursor.
type hiddenParams struct {
	mcp.ParamsBase
	rest map[string]any
}

func (h *hiddenParams) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &h.rest) }
func (h *hiddenParams) MarshalJSON() ([]byte, error)    { return json.Marshal(h.rest) }

type hiddenResult struct {
	mcp.ResultBase
	rest map[string]any
}

func (h *hiddenResult) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &h.rest) }
func (h *hiddenResult) MarshalJSON() ([]byte, error)    { return json.Marshal(h.rest) }

// ownParams reads JSON by itself too, and takes no cursor.
type ownParams struct {
	mcp.ParamsBase
	Word string
}

func (o *ownParams) UnmarshalJSON(text []byte) error {
	var found struct{ Word string }
	err := json.Unmarshal(text, &found)
	o.Word = found.Word
	return err
}
func (o *ownParams) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"Word": o.Word})
}

// A cursor that a type of the author's hides is not passed on unverified, and does not leave as it is.
func TestAHiddenCursorIsRefused(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	served := 0
	handle := func(next map[string]any) func(context.Context, *mcp.ServerSession, *hiddenParams) (*hiddenResult, error) {
		return func(context.Context, *mcp.ServerSession, *hiddenParams) (*hiddenResult, error) {
			served++
			return &hiddenResult{rest: next}, nil
		}
	}
	if err := mcp.AddReceivingCustomMethod(s.server, "things/in", handle(map[string]any{})); err != nil {
		t.Fatal(err)
	}
	own := func(next map[string]any) func(context.Context, *mcp.ServerSession, *ownParams) (*hiddenResult, error) {
		return func(context.Context, *mcp.ServerSession, *ownParams) (*hiddenResult, error) {
			return &hiddenResult{rest: next}, nil
		}
	}
	if err := mcp.AddReceivingCustomMethod(s.server, "things/out", own(map[string]any{"nextCursor": "10"})); err != nil {
		t.Fatal(err)
	}
	if err := mcp.AddReceivingCustomMethod(s.server, "things/none", own(map[string]any{"things": 7})); err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{Logger: quiet})
	for _, method := range []string{"things/in", "things/out", "things/none"} {
		if err := mcp.AddSendingCustomMethod[*hiddenParams, *hiddenResult](client, method); err != nil {
			t.Fatal(err)
		}
	}
	to, from := mcp.NewInMemoryTransports()
	must(s.server.Connect(t.Context(), from, nil))
	c := must(client.Connect(t.Context(), to, nil))
	defer c.Close()
	ask := func(method string) string {
		sent := &hiddenParams{rest: map[string]any{"cursor": "of nobody", "Word": "x"}}
		result, err := mcp.CallCustomMethod[*hiddenParams, *hiddenResult](t.Context(), c, method, sent)
		return toldOf(result, err)
	}
	if told := ask("things/in"); !strings.Contains(told, "-32603") || served != 0 {
		t.Errorf("in: %s", told)
	}
	if told := ask("things/out"); !strings.Contains(told, "-32603") || strings.Contains(told, "nextCursor") {
		t.Errorf("out: %s", told)
	}
	if told := ask("things/none"); !strings.Contains(told, `"things":7`) {
		t.Errorf("none: %s", told)
	}
	if len(s.refusals) != 2 {
		t.Fatalf("refused %+v", s.refusals)
	}
	for n, expected := range []string{"params: expected", "result: expected"} {
		if found := s.refusals[n]; found.Kind != "cursor" || found.Code != "invalid_argument" || !strings.HasPrefix(found.Message, expected) {
			t.Errorf("refused %+v", found)
		}
	}
}

type pageParams struct {
	mcp.ParamsBase
	Cursor *string `json:"cursor,omitempty"`
}

type pageResult struct {
	mcp.ResultBase
	Came       *string `json:"came,omitempty"`
	NextCursor *string `json:"nextCursor,omitempty"`
}

// A type with a pointer tells an empty cursor from none, which the SDK's own types do not: it is one, and leaves sealed. One that
// does not advance stays the same text, so that its client sees it.
func TestAnEmptyCursorIsOne(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	err := mcp.AddReceivingCustomMethod(s.server, "pages/turn", func(_ context.Context, _ *mcp.ServerSession, params *pageParams) (*pageResult, error) {
		return &pageResult{Came: params.Cursor, NextCursor: new(string)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{Logger: quiet})
	if err := mcp.AddSendingCustomMethod[*pageParams, *pageResult](client, "pages/turn"); err != nil {
		t.Fatal(err)
	}
	to, from := mcp.NewInMemoryTransports()
	must(s.server.Connect(t.Context(), from, nil))
	c := must(client.Connect(t.Context(), to, nil))
	defer c.Close()
	turn := func(cursor *string) *pageResult {
		t.Helper()
		page, err := mcp.CallCustomMethod[*pageParams, *pageResult](t.Context(), c, "pages/turn", &pageParams{Cursor: cursor})
		if err != nil || page.NextCursor == nil || !strings.HasPrefix(*page.NextCursor, "sw1.") {
			t.Fatalf("told %s", toldOf(page, err))
		}
		return page
	}
	first := turn(nil)
	if first.Came != nil {
		t.Errorf("without a cursor the handler has %q", *first.Came)
	}
	second := turn(first.NextCursor)
	if second.Came == nil || *second.Came != "" {
		t.Errorf("with one the handler has %v", second.Came)
	}
	if *second.NextCursor != *first.NextCursor {
		t.Errorf("the same cursor is %s and %s", *first.NextCursor, *second.NextCursor)
	}
	_, refused := mcp.CallCustomMethod[*pageParams, *pageResult](t.Context(), c, "pages/turn", &pageParams{Cursor: new(string)})
	if told := toldOf(nil, refused); !strings.Contains(told, "-32602") {
		t.Errorf("an empty one of nobody: %s", told)
	}
}
