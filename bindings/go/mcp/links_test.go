package sealwaxmcp_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/ledger"
	sealwaxmcp "github.com/sealwax/sealwax-go/mcp"
)

// What a link is good for is shown by the transcripts of tests/vectors/guard.json.
func TestALinkIsOpenedWhereNoRequestIs(t *testing.T) {
	var took []time.Duration
	s := newShop(codecOf(freshKeys()), principal(alice), sealwaxmcp.WithLedger(must(ledger.NewMemory())),
		sealwaxmcp.OnEvent(func(event sealwaxmcp.TokenEvent) { took = append(took, event.Took) }))
	links := must(sealwaxmcp.NewLinks[note](s.guard, "report", sealwaxmcp.LinkTTL(time.Hour), sealwaxmcp.LinkOnce()))
	var link string
	s.tool("link", func(ctx context.Context) (_ string, err error) {
		link, err = links.Seal(ctx, note{7})
		return "", err
	})
	must(call(t, within(t, s.server), "link", nil))
	_, err := links.Open(t.Context(), link, sealwaxmcp.OpenedBy(sealwaxmcp.Principal{}))
	if !errors.Is(err, sealwax.ErrInvalidArgument) || !strings.Contains(err.Error(), "expected the user who is signed in") {
		t.Errorf("by nobody: %v", err)
	}
	// Of another release, which reads another type.
	others := must(sealwaxmcp.NewLinks[string](s.guard, "report"))
	var other *sealwaxmcp.LinkRefused
	if _, err := others.Open(t.Context(), link); !errors.As(err, &other) || other.Status != 404 || !errors.Is(err, sealwax.ErrMalformed) {
		t.Errorf("another type: %v", err)
	}
	seen := must(links.Open(t.Context(), link, sealwaxmcp.KeepLink(), sealwaxmcp.OpenedBy(alice())))
	opened := must(links.Open(t.Context(), link))
	if *seen != *opened || opened.Value != (note{7}) || opened.Principal != alice() || len(opened.TokenID) != 32 {
		t.Errorf("%+v, then %+v", seen, opened)
	}
	for text, code := range map[string]error{link: sealwaxmcp.ErrUsed, "": sealwax.ErrMalformed, "\xff": sealwax.ErrMalformed} {
		var refused *sealwaxmcp.LinkRefused
		_, err := links.Open(t.Context(), text)
		if !errors.As(err, &refused) || refused.Status != 404 || err.Error() != "Not found" || !errors.Is(err, code) || !errors.Is(err, sealwax.ErrRefused) {
			t.Errorf("%q: %v, for %v", text, err, errors.Unwrap(err))
		}
	}
	if err := s.guard.Revoke(t.Context(), alice()); err != nil {
		t.Error(err)
	}
	if len(took) != 4 || slices.Max(took) > time.Minute {
		t.Errorf("a seal, two openings and a revocation took %v", took)
	}
}

func ExampleNewLinks() {
	guard := exampleGuard()
	reports := must(sealwaxmcp.NewLinks[int](guard, "report", sealwaxmcp.LinkTTL(15*time.Minute)))
	// In a handler: link, err := reports.Seal(ctx, 7). At the route of https://notes.example.com/reports/…:
	_, err := reports.Open(context.Background(), "no link")
	var refused *sealwaxmcp.LinkRefused
	if errors.As(err, &refused) {
		fmt.Println(refused.Status, refused)
	}
	// Output: 404 Not found
}

func ExamplePosition() {
	guard := exampleGuard()
	type search struct {
		Query  string `json:"query"`
		Cursor string `json:"cursor,omitempty"`
	}
	find := func(ctx context.Context, _ *mcp.CallToolRequest, _ search) (*mcp.CallToolResult, any, error) {
		from, _, err := sealwaxmcp.Position[int](ctx) // 0 for the first page
		if err != nil {
			return nil, nil, err
		}
		next, err := guard.Cursor(ctx, from+20)
		text := fmt.Sprintf("from %d; the next page has the cursor\n%s", from, next)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1.0.0"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "find"}, find)
	fmt.Println(guard.Protect(server))
	// Output: <nil>
}
