package sealwaxmcp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// What a guard seals opens for whom it was made, at every replica, and the client gets one answer to everything else.
func TestWhatIsSealedOpensForWhomItWasMade(t *testing.T) {
	for revision, carriers := range map[string][]carrier{
		newest: {states, cursors, baskets}, older: {cursors, baskets},
	} {
		for way, connect := range ways(t, revision) {
			alices, again, bobs := connect(t, "alice"), connect(t, "alice"), connect(t, "bob")
			for _, one := range carriers {
				t.Run(revision+"/"+way+"/"+one.name, func(t *testing.T) {
					token := one.good(t, alices)
					for range 2 {
						if told := one.present(t, again, token); !strings.Contains(told, one.taken) {
							t.Errorf("a good one: %s", told)
						}
					}
					first := one.present(t, bobs, token)
					for why, text := range map[string]string{
						"cut": token[:len(token)-1], "padded": token + "=", "a guess": "production",
						"too large": strings.Repeat(token, 1<<20/len(token)),
					} {
						if told := one.present(t, alices, text); told != first || strings.Contains(told, one.taken) {
							t.Errorf("%s: %s, and another user's: %s", why, told, first)
						}
					}
				})
			}
		}
	}
}

// The official client asks its user, and comes back with the state by itself. For one of an older revision the SDK asks, within one
// request: no state leaves the server, and the handler reads its own.
func TestTheOfficialClientAsksItsUser(t *testing.T) {
	for revision, leaves := range map[string]bool{newest: true, older: false} {
		var heard strings.Builder
		s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
		c := connected(t, over(serves(t, s.handler(leaves)), authorized{"alice", &heard}), revision, yes)
		told := toldOf(call(t, c, "ask", note{7}))
		if !strings.Contains(told, `"structuredContent":{"action":"accept","asked":7,"id":7}`) {
			t.Errorf("%s: told %s", revision, told)
		}
		_ = c.Close()
		if text := heard.String(); strings.Contains(text, "requestState") != leaves || !strings.Contains(text, "elicitation/create") {
			t.Errorf("%s: heard %s", revision, text)
		}
	}
}

// calls posts a call of the newest revision, with these members of its params, and returns the message that answers it.
func calls(t *testing.T, url, tool, members string) string {
	t.Helper()
	message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, members)
	_, body := posted(t, url, message, "Mcp-Protocol-Version", newest, "Mcp-Method", "tools/call", "Mcp-Name", tool)
	if _, data, ok := strings.Cut(body, "data: "); ok {
		body, _, _ = strings.Cut(data, "\n")
	}
	return body
}

// What the SDK's types refuse, or cannot tell from an absent member, never reaches the guard, nor a handler.
func TestWhatTheSDKRefusesByItself(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
	url := serves(t, s.handler(true))
	const refused = `"error":`
	for sent, expected := range map[string]string{
		`7`: refused, `true`: refused, `["x"]`: refused, `{"x":1}`: refused, `""`: `"resultType":"input_required"`,
	} {
		if told := calls(t, url, "ask", `"arguments":{"id":7},"requestState":`+sent); !strings.Contains(told, expected) {
			t.Errorf("%s: %s", sent, told)
		}
	}
	for _, cursor := range []string{`2`, `{}`} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":` + cursor + `}}`
		if _, told := posted(t, url, message, "Mcp-Protocol-Version", older); !strings.Contains(told, refused) {
			t.Errorf("%s: %s", cursor, told)
		}
	}
	if refusals := s.told(); len(refusals) != 0 {
		t.Errorf("logged %v", refusals)
	}
}

// A refused handle is a result of the tool in every kind of tool, complete for clients that want to know. A tool that catches it
// finds the reason, and nothing of it in the error's text.
func TestARefusedHandleIsAResult(t *testing.T) {
	s := newShop(codecOf(freshKeys()), sealwaxmcp.FromToken)
	var caught error
	// A low-level tool, whose errors the SDK makes no results of.
	s.server.AddTool(&mcp.Tool{Name: "low", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			caught = failure(s.baskets.Open(ctx, "basket_of_nobody"))
			return nil, caught
		})
	url := listening(t, s)
	typed, low := calls(t, url, "add", `"arguments":{"handle":"basket_x"}`), calls(t, url, "low", `"arguments":{}`)
	if typed != low || !strings.Contains(low, `"resultType":"complete"`) || !strings.Contains(low, `"isError":true`) {
		t.Errorf("%s, and %s", typed, low)
	}
	var refused *sealwaxmcp.HandleRefused
	if !errors.As(caught, &refused) || !errors.Is(caught, sealwax.ErrRefused) || !errors.Is(caught, sealwax.ErrMalformed) ||
		strings.Contains(caught.Error(), "malformed") {
		t.Errorf("caught %v", caught)
	}
}
