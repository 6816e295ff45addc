package sealwaxmcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// hears has its user say yes, and keeps the words.
func hears(words *[]string) user {
	return func(params *mcp.ElicitParams) *mcp.ElicitResult {
		*words = append(*words, params.Message)
		return yes(params)
	}
}

// The official client asks its user, by the result of the call or on the connection, and the tool runs for a yes alone.
func TestAToolRunsForAYesAlone(t *testing.T) {
	no := func(*mcp.ElicitParams) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": "no"}}
	}
	for _, revision := range []string{newest, older} {
		s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirm("delete", "Delete note {id}?"))
		if told := toldOf(call(t, asking(t, s.server, revision, no), "delete", note{7})); !strings.Contains(told, "The user declined.") {
			t.Errorf("%s: no: %s", revision, told)
		}
		var words []string
		told := toldOf(call(t, asking(t, s.server, revision, hears(&words)), "delete", note{7}))
		if !strings.Contains(told, "deleted") || !slices.Equal(words, []string{"Delete note 7?"}) {
			t.Errorf("%s: yes to %q: %s", revision, words, told)
		}
		if len(s.deleted) != 1 || s.deleted[0].RequestState != "" || s.deleted[0].InputResponses != nil {
			t.Errorf("%s: the handler saw %+v", revision, s.deleted)
		}
	}
}

// While the SDK's own list hangs or panics, all is asked about, and it is not waited for.
func TestAListThatFailsLeavesAllInDoubt(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for name, list := range map[string]func(context.Context){
			"hangs":  func(ctx context.Context) { <-ctx.Done(); time.Sleep(10 * time.Millisecond) },
			"panics": func(context.Context) { panic("password=hunter2") },
		} {
			s := newShopWith(func(next mcp.MethodHandler) mcp.MethodHandler {
				return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
					if method == "tools/list" {
						list(ctx)
					}
					return next(ctx, method, req)
				}
			}, codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmDestructive())
			var words []string
			told := toldOf(call(t, asking(t, s.server, revision, hears(&words)), "delete", note{7}))
			if !strings.Contains(told, "deleted") || !slices.Equal(words, []string{`Run "delete" with {"id":7}?`}) {
				t.Errorf("%s: a list that %s: asked %q, told %s", revision, name, words, told)
			}
			for _, refusal := range s.told() {
				if refusal.Code != "invalid_argument" || strings.Contains(refusal.Message, "hunter2") {
					t.Errorf("%s: a list that %s: refused %+v", revision, name, refusal)
				}
			}
		}
	}
}

// Where the author's function makes no question, nothing runs. Neither client nor log gets what its error or its panic says.
func TestAFunctionMakesTheQuestion(t *testing.T) {
	// By what the log says of it.
	for message, question := range map[string]func(context.Context, json.RawMessage) (string, error){
		"": func(_ context.Context, arguments json.RawMessage) (string, error) {
			made := "Really " + string(arguments) + "?"
			// What the handler gets is what the user has agreed to.
			clear(arguments)
			return made, nil
		},
		"errorString":                   func(context.Context, json.RawMessage) (string, error) { return "", errors.New("password=hunter2") },
		"a panic at questions_test.go:": func(context.Context, json.RawMessage) (string, error) { panic("password=hunter2") },
		"expected text in UTF-8":        func(context.Context, json.RawMessage) (string, error) { return "\xff", nil },
	} {
		s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmFunc("delete", question))
		var words []string
		told := toldOf(call(t, asking(t, s.server, newest, hears(&words)), "delete", note{7}))
		refusals := s.told()
		if message == "" {
			if !slices.Equal(words, []string{`Really {"id":7}?`}) || len(s.deleted) != 1 || string(s.deleted[0].Arguments) != `{"id":7}` {
				t.Errorf("asked %q, told %s", words, told)
			}
		} else if !strings.Contains(told, "-32603") || strings.Contains(told, "hunter2") || len(s.deleted) != 0 || len(refusals) != 1 {
			t.Errorf("%s: told %s, refused %+v", message, told, refusals)
		} else if why := refusals[0]; !why.Fault || !strings.Contains(why.Message, message) || strings.Contains(why.Message, "hunter2") {
			t.Errorf("%s: refused %+v", message, why)
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
		s := newShop(codecOf(freshKeys()), one.who, sealwaxmcp.WithConfirm("delete", "Delete note {id}?"))
		inner := s.handler(one.stateless)
		url := serves(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			auth.TokenInfoFromContext(r.Context()).UserID = one.userID
			inner.ServeHTTP(w, r)
		}))
		told := toldOf(call(t, connected(t, over(url, authorized{user: "alice"}), older, yes), "delete", note{7}))
		if !strings.Contains(told, one.told) || (len(s.deleted) == 1) != (one.told == "deleted") {
			t.Errorf("%s: told %s", name, told)
		}
	}
}
