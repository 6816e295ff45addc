package sealwaxmcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/ledger"
)

// An Option sets up a [Guard].
type Option func(*Guard) error

// WithLedger records which tokens were used or ended, and which state of a session is the latest one. Without a ledger a
// token can be used any number of times until it expires.
func WithLedger(l ledger.Ledger, options ...LedgerOption) Option {
	return func(g *Guard) error {
		if l == nil {
			return invalid("ledger: expected a ledger, found nil")
		}
		g.ledger = l
		settings := &engine.Ledger{}
		if near, ok := l.(interface{ Local() bool }); ok {
			settings.Local = near.Local()
		}
		g.settings.Ledger = settings
		return set(settings, options)
	}
}

// A LedgerOption sets how a guard uses its ledger.
type LedgerOption func(*engine.Ledger) error

// Label separates two ledgers of one audience in one store.
func Label(label string) LedgerOption {
	return func(l *engine.Ledger) error { l.Label = label; return nil }
}

// ClockTolerance is the largest difference between the clocks of the replicas and the store: 5 s by default, 0 for a ledger on
// this machine.
func ClockTolerance(d time.Duration) LedgerOption {
	return func(l *engine.Ledger) error { return seconds(&l.ClockTolerance, "clock tolerance", d) }
}

// AcceptIssuedSince accepts tokens that are older than the ledger if they were made since then: for the day when the ledger is
// introduced. This includes what ended before it, but no requestState, which could have been used.
func AcceptIssuedSince(t time.Time) LedgerOption {
	return func(l *engine.Ledger) error {
		since := t.Unix()
		l.AcceptIssuedSince = &since
		return nil
	}
}

// ReusableRequestState accepts a requestState any number of times.
func ReusableRequestState() LedgerOption {
	return func(l *engine.Ledger) error { l.ReusableRequestState = true; return nil }
}

// WithTimeLimit is for all that is asked of the ledger for one request: a second by default, from a millisecond to a minute. One
// command has three tenths of it.
func WithTimeLimit(d time.Duration) Option {
	return func(g *Guard) error {
		// The engine refuses what is out of bounds, and cannot read what is negative.
		ms := max(d, 0).Milliseconds()
		g.settings.TimeLimitMs = &ms
		return nil
	}
}

// WithRequestStateTTL is how long a requestState lives: ten minutes by default.
func WithRequestStateTTL(d time.Duration) Option {
	return func(g *Guard) error { return seconds(&g.settings.RequestStateTTL, "requestState TTL", d) }
}

// WithOnly binds the requestState of a tool or prompt to some of its arguments; the others may differ when the client comes
// back.
func WithOnly(target string, arguments ...string) Option {
	return func(g *Guard) error {
		if g.settings.Only == nil {
			g.settings.Only = map[string][]string{}
		}
		g.settings.Only[target] = arguments
		return nil
	}
}

// WithConfirm runs a tool only for a call that its user confirmed; the handler needs no code for it. In message, {name} is the
// call's argument of that name, as JSON, and {{ and }} are braces: "Delete note {id}?". With [WithOnly] it may name only what
// that binds. [New] fails with [sealwax.ErrInvalidArgument] for other braces, and for an empty message.
//
// The user is asked by a form with one choice. A client of revision 2026-07-28 that elicits is asked by the result of the call,
// and calls again; an earlier one by elicitation/create while the call waits, for 50 seconds at most, over stdio, in memory, and
// over HTTP in a session of the SDK's own. There the SDK has to keep the session to its user, by the UserID that your verifier
// puts into [auth.TokenInfo], unless the guard is [Anonymous]: somebody else who knows the session could answer. A client that
// shows the pages of servers (MCP Apps) shows a card. For any other, and where the user does not choose yes, the tool does not
// run, and the model is told why; with [Preview] the model asks.
//
// What was agreed to holds for this user, tool, arguments and question, for ten minutes ([WithConfirmTTL]). Without [WithLedger]
// it can be used again until then; with it, once.
func WithConfirm(tool, message string, fallback ...Fallback) Option {
	return func(g *Guard) error {
		return g.confirm(tool, engine.Confirm{Message: &message}, fallback)
	}
}

// Fallback is what becomes of a call whose user cannot be asked.
type Fallback string

const (
	// Refuse answers that the tool did not run. It is the default.
	Refuse Fallback = "refuse"
	// Preview tells the model the question, for it to ask the user and to bring the answer: the same call, once. It proves no
	// consent.
	Preview Fallback = "preview"
)

// WithConfirmFunc is [WithConfirm] with a question that a function makes of the call's arguments, a JSON object as the client
// sent it; {} if it sent none. The function is called for each call, also for one that was confirmed: the user is asked again if
// the question is another one by then. ctx is that of the request. If it fails, panics, or returns no text, the tool does not
// run: the client is told of an internal error, and [OnRefused] why.
func WithConfirmFunc(tool string, question func(ctx context.Context, arguments json.RawMessage) (string, error), fallback ...Fallback) Option {
	return func(g *Guard) error {
		if question == nil {
			return invalid("confirm %q: expected a function, found nil", tool)
		}
		if g.questions == nil {
			g.questions = map[string]questionFunc{}
		}
		g.questions[tool] = question
		return g.confirm(tool, engine.Confirm{}, fallback)
	}
}

// WithConfirmDestructive is [WithConfirm] for each tool that the server's own tools/list marks as destructive: by the specification
// each one unless its annotations have a readOnlyHint of true or a destructiveHint of false. Its user is asked "Run {tool} with
// {arguments}?". A tool of WithConfirm keeps its own question.
func WithConfirmDestructive(fallback ...Fallback) Option {
	return func(g *Guard) error {
		with, err := confirmed("destructive", engine.Confirm{}, fallback)
		g.settings.ConfirmDestructive = &with
		return err
	}
}

// WithConfirmTTL is how long a user may take to confirm, in whole seconds: ten minutes by default. For clients of revisions
// before 2026-07-28 it is 50 seconds.
func WithConfirmTTL(d time.Duration) Option {
	return func(g *Guard) error { return seconds(&g.settings.ConfirmTTL, "confirm TTL", d) }
}

// OnRefused is called with every refusal and its reason, which the log gets too, and the client never. It must not wait.
func OnRefused(hook func(Refusal)) Option {
	return func(g *Guard) error { g.onRefused = append(g.onRefused, hook); return nil }
}

// OnEvent is called with whatever was opened, sealed, ended or revoked. It must not wait. The package
// github.com/sealwax/sealwax-go/mcp/otel makes metrics of both.
func OnEvent(hook func(TokenEvent)) Option {
	return func(g *Guard) error { g.onEvent = append(g.onEvent, hook); return nil }
}

// WithLogger gets the log: each line, and its members as a group named "sealwax". By default [slog.Default] gets the lines
// alone, which say it all.
func WithLogger(logger *slog.Logger) Option {
	return func(g *Guard) error { g.logger = logger; return nil }
}

// A RevokeOption sets how [Guard.Revoke] revokes.
type RevokeOption func(*revocation) error

type revocation struct{ retain *uint64 }

// RetainFor is how long a ledger remembers that a principal was signed out: at least the longest lifetime of anything that the
// service issues, now or later.
func RetainFor(d time.Duration) RevokeOption {
	return func(r *revocation) error { return seconds(&r.retain, "retain for", d) }
}

// seconds sets a duration in the engine's unit.
func seconds(setting **uint64, name string, d time.Duration) (err error) {
	*setting, err = host.Seconds(name, d)
	return err
}
