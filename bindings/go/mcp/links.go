package sealwaxmcp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/mcp/internal/message"
)

// A LinkOption sets up the links of a name.
type LinkOption func(*handles) error

// LinkTTL is how long a link lives: 24 hours by default.
func LinkTTL(d time.Duration) LinkOption {
	return func(h *handles) error { return seconds(&h.ttl, "TTL", d) }
}

// LinkOnce makes each link good once. It needs a ledger.
func LinkOnce() LinkOption {
	return func(h *handles) error { h.once = true; return nil }
}

// Links are texts of one name that are safe in a URL and hold a T as JSON: sealed in a handler, and opened elsewhere by whoever
// has them. Any replica seals and opens them.
type Links[T any] struct{ handles }

// OpenedLink is what a link opened to.
type OpenedLink[T any] struct {
	// Value is the value, as it was sealed.
	Value T
	// Principal is the caller for whom it was sealed, whoever opened it; zero for an anonymous one.
	Principal Principal
	// TokenID is the token's id in hex digits, the same at every opening.
	TokenID string
}

// NewLinks returns the links of a name: a small letter, then up to 31 small letters or digits.
func NewLinks[T any](g *Guard, name string, options ...LinkOption) (*Links[T], error) {
	h, err := newHandles(g, name, true, options)
	return &Links[T]{h}, err
}

// Seal makes a link that holds a value, for the caller. ctx is the handler's.
func (l *Links[T]) Seal(ctx context.Context, value T) (string, error) {
	done, err := l.sealing(ctx, engine.HandleOp{Op: "sealLink"}, value)
	return done.Handle, err
}

// An OpenOption sets how [Links.Open] opens a link.
type OpenOption func(*engine.HandleOp) error

// KeepLink leaves a link of [LinkOnce] good: for a GET, since mail programs and chats fetch links to preview them.
func KeepLink() OpenOption {
	return func(op *engine.HandleOp) error { op.Keep = true; return nil }
}

// OpenedBy lets nobody else open a link than the user who is signed in. The zero Principal, which is nobody, is an error.
func OpenedBy(principal Principal) OpenOption {
	return func(op *engine.HandleOp) (err error) {
		if principal.IsNobody() {
			return invalid("by: expected the user who is signed in, found none")
		}
		op.By, err = parts(principal)
		return err
	}
}

// Open opens what came, at a route of any kind; one of [LinkOnce] is used up. The error of one that is refused, or holds no T, is a
// [*LinkRefused]. It asks a ledger twice, each time within the guard's limit: the value is read before the link is used up.
func (l *Links[T]) Open(ctx context.Context, link string, options ...OpenOption) (*OpenedLink[T], error) {
	op := engine.HandleOp{Op: "openLink", Type: l.kind, Handle: message.ClientValue(link)}
	if err := set(&op, options); err != nil {
		return nil, err
	}
	c := l.guard.caller(ctx, nil)
	if !op.Keep && l.guard.ledger != nil {
		// Read the value first: a link whose value is no T must not count as used.
		first := op
		first.Keep, c.quiet = true, true
		if _, err := l.opened(ctx, c, first); err != nil {
			return nil, err
		}
		c.quiet = false
	}
	return l.opened(ctx, c, op)
}

func (l *Links[T]) opened(ctx context.Context, c *caller, op engine.HandleOp) (*OpenedLink[T], error) {
	step, err := c.finish(ctx, func() (*engine.Exchange, *engine.Step, error) { return l.guard.rules.OpenLink(op) })
	if err != nil {
		return nil, err
	}
	if step.Step != "done" {
		return nil, &LinkRefused{cmp.Or(step.Status, http.StatusInternalServerError), why(step)}
	}
	value, err := read[T]("link", *step.Value)
	if err != nil {
		malformed := host.NewError(0, string(sealwax.ErrMalformed), ours(err).Message, true)
		l.guard.reportFault(ctx, malformed, engine.Fault{Kind: "link"})
		answer, err := sealwax.AnswerTo(sealwax.ProfileMCPSessionID, malformed, "")
		return nil, &LinkRefused{cmp.Or(answer.HTTPStatus, http.StatusInternalServerError), errors.Join(malformed, err)}
	}
	return &OpenedLink[T]{Value: value, Principal: principalOf(*step.Principal), TokenID: step.ID}, nil
}
