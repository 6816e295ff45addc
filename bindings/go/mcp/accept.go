package sealwaxmcp

import (
	"context"
	"time"
)

// Presented is a verified token, as [Accept] gets it.
type Presented struct {
	// Kind is request-state, cursor, handle-state, handle or session.
	Kind string
	// ID is the token's id in hex digits; the ulid of a handle whose state the server keeps.
	ID string
	// Principal is whose it is: zero for an anonymous one, and for the cursor of a public page.
	Principal Principal
	// Until is when no replica opens it any more, so that a record of it can be dropped; zero if it never ends.
	Until time.Time
}

// Accept decides whether to accept a verified token, and records what ends: for rules of your own. To record used and ended
// tokens, use a ledger. Keep each record at least until the token's Until.
//
// If a function fails, or takes longer than the guard's time limit, the request fails as an error of the server, so that the
// client keeps its token.
type Accept interface {
	// Accept returns whether to accept a token.
	Accept(ctx context.Context, presented Presented) (bool, error)
	// Ended records that a token ended: do not accept it again.
	Ended(ctx context.Context, presented Presented) error
}

// A Transition accepts the requestState tokens of another codec until a date, for clients that are in the middle of something
// when the guard takes its place. None is ever made.
type Transition struct {
	// Open verifies such a token and returns what was sealed, or false to refuse it.
	Open func(ctx context.Context, token string) (string, bool, error)
	// Until is when they begin to be refused.
	Until time.Time
}
