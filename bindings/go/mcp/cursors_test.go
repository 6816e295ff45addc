package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// hidden reads and writes JSON by itself, and shows no cursor.
type hidden struct{ rest map[string]any }

func (h *hidden) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &h.rest) }
func (h *hidden) MarshalJSON() ([]byte, error)    { return json.Marshal(h.rest) }

type hiddenParams struct {
	mcp.ParamsBase
	hidden
}

type hiddenResult struct {
	mcp.ResultBase
	hidden
}

// ownParams reads JSON by itself too, and takes no cursor.
type ownParams struct {
	mcp.ParamsBase
	taken struct{ Word string }
}

func (o *ownParams) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &o.taken) }

type pointer[T any] interface {
	*T
	mcp.Params
}

// own has a method of the author's own answer, and returns what asks for it.
func own[In pointer[I], P pointer[O], R mcp.Result, I, O any](t *testing.T, s *shop, serve func(In) R) func(P) (R, error) {
	t.Helper()
	const method = "things/turn"
	err := mcp.AddReceivingCustomMethod(s.server, method, func(_ context.Context, _ *mcp.ServerSession, params In) (R, error) {
		return serve(params), nil
	})
	client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{Logger: quiet})
	if err = errors.Join(err, mcp.AddSendingCustomMethod[P, R](client, method)); err != nil {
		t.Fatal(err)
	}
	to, from := mcp.NewInMemoryTransports()
	must(s.server.Connect(t.Context(), from, nil))
	c := must(client.Connect(t.Context(), to, nil))
	t.Cleanup(func() { _ = c.Close() })
	return func(params P) (R, error) {
		return mcp.CallCustomMethod[P, R](t.Context(), c, method, params)
	}
}

// A cursor that a type of the author's hides is not passed on unverified, and does not leave as it is.
func TestAHiddenCursorIsRefused(t *testing.T) {
	sent := &hiddenParams{hidden: hidden{map[string]any{"cursor": "of nobody", "Word": "x"}}}
	served := 0
	takes := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	ask := own[*hiddenParams, *hiddenParams](t, takes, func(*hiddenParams) *hiddenResult { served++; return &hiddenResult{} })
	told := toldOf(ask(sent))
	makes := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous)
	members := map[string]any{"nextCursor": "10"}
	ask = own[*ownParams, *hiddenParams](t, makes, func(*ownParams) *hiddenResult { return &hiddenResult{hidden: hidden{members}} })
	told += toldOf(ask(sent))
	if strings.Count(told, "-32603") != 2 || strings.Contains(told, "nextCursor") || served != 0 {
		t.Errorf("told %s", told)
	}
	members = map[string]any{"things": 7}
	if told := toldOf(ask(sent)); !strings.Contains(told, `"things":7`) {
		t.Errorf("without one: %s", told)
	}
	for expected, s := range map[string]*shop{"params: expected": takes, "result: expected": makes} {
		found := s.told()
		if len(found) != 1 || found[0].Kind != "cursor" || found[0].Code != "invalid_argument" || !strings.HasPrefix(found[0].Message, expected) {
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
	turn := own[*pageParams, *pageParams](t, s, func(params *pageParams) *pageResult {
		return &pageResult{Came: params.Cursor, NextCursor: new(string)}
	})
	first := must(turn(&pageParams{}))
	if first.Came != nil || first.NextCursor == nil || !strings.HasPrefix(*first.NextCursor, "sw1.") {
		t.Fatalf("without a cursor: %s", toldOf(first, nil))
	}
	second := must(turn(&pageParams{Cursor: first.NextCursor}))
	if second.Came == nil || *second.Came != "" || *second.NextCursor != *first.NextCursor {
		t.Errorf("with one: %s", toldOf(second, nil))
	}
	if told := toldOf(turn(&pageParams{Cursor: new(string)})); !strings.Contains(told, "-32602") {
		t.Errorf("an empty one of nobody: %s", told)
	}
}
