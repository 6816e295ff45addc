package sealwaxmcp

import (
	"context"
	"time"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
)

// A CursorOption sets up [Guard.Cursor] and [Position], which need the same ones.
type CursorOption func(*handles) error

// CursorArgument names the argument that carries the cursor: cursor by default.
func CursorArgument(name string) CursorOption {
	return func(h *handles) error { h.kind = name; return host.CheckText("argument", name) }
}

// CursorList says what the list is made of, such as its version: a cursor of another list is refused.
func CursorList(list string) CursorOption {
	return func(h *handles) error { h.list = &list; return host.CheckText("list", list) }
}

// CursorTTL is how long a cursor lives: 24 hours by default. [Position] does without it.
func CursorTTL(d time.Duration) CursorOption {
	return func(h *handles) error { return seconds(&h.ttl, "TTL", d) }
}

// Cursor makes a cursor for the result of a tool, of where the next page begins, as JSON. The next call has it in the argument
// cursor, where [Position] opens it, for the same user, tool and other arguments.
func (g *Guard) Cursor(ctx context.Context, position any, options ...CursorOption) (string, error) {
	cursors := handles{guard: g, kind: "cursor"}
	if err := set(&cursors, options); err != nil {
		return "", err
	}
	done, err := cursors.sealing(ctx, engine.HandleOp{Op: "cursor"}, position)
	return done.Handle, err
}

// Position returns the position of the cursor that a call of a tool brought; false for the first page. What no guard could have
// made is the first page too: models fill in every argument that they know of. The error of a cursor that was altered, has
// expired, or is of another user, tool, call or list is a [*HandleRefused].
func Position[T any](ctx context.Context, options ...CursorOption) (position T, ok bool, err error) {
	cursors := handles{kind: "cursor"}
	if x := served(ctx); x != nil {
		cursors.guard = x.guard
	}
	if err := set(&cursors, options); err != nil {
		return position, false, err
	}
	done, err := cursors.run(ctx, engine.HandleOp{Op: "position"}, nil)
	if err != nil || done.Value == nil {
		return position, false, err
	}
	position, err = read[T]("cursor", *done.Value)
	return position, err == nil, err
}
