package sealwaxmcp_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// While the SDK's own list hangs or panics, all is asked about, and it is not waited for. The handler sees nothing of the answer.
func TestAListThatFailsLeavesAllInDoubt(t *testing.T) {
	for _, revision := range []string{newest, older} {
		for name, list := range map[string]func(context.Context){
			"hangs":  func(ctx context.Context) { <-ctx.Done(); time.Sleep(10 * time.Millisecond) },
			"panics": func(context.Context) { panic("password=hunter2") },
		} {
			s := newShop(codecOf(freshKeys()), sealwaxmcp.Anonymous, sealwaxmcp.WithConfirmDestructive())
			s.lists = list
			var words []string
			told := toldOf(call(t, asking(t, s.server, revision, func(params *mcp.ElicitParams) *mcp.ElicitResult {
				words = append(words, params.Message)
				return yes(params)
			}), "delete", note{7}))
			if !strings.Contains(told, "deleted") || !slices.Equal(words, []string{`Run "delete" with {"id":7}?`}) {
				t.Errorf("%s: a list that %s: asked %q, told %s", revision, name, words, told)
			}
			if len(s.deleted) != 1 || s.deleted[0].RequestState != "" || s.deleted[0].InputResponses != nil {
				t.Errorf("%s: the handler saw %+v", revision, s.deleted)
			}
			for _, refusal := range s.told() {
				if refusal.Code != "invalid_argument" || strings.Contains(refusal.Message, "hunter2") {
					t.Errorf("%s: a list that %s: refused %+v", revision, name, refusal)
				}
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
