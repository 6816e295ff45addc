package sealwaxmcp

import (
	"context"
	"log/slog"
	"time"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// Refusal is the argument of [OnRefused]. It holds no token, no payload and no key.
type Refusal struct {
	// Code is a code of [sealwax.Error]; invalid_request for arguments that no requestState can be bound to; unauthenticated
	// without a principal; unconfirmed for a call that its user was not asked about; from a ledger used, ended, revoked, unknown,
	// stale or ledger_unavailable. ledger_unconfirmed is only a warning: a fail-over may lose the record of an end.
	Code string
	// Kind is what was refused: request-state, cursor, handle-state, handle, link or session.
	Kind string
	// Message is the reason, for the operator.
	Message string
	// Fault tells that it is the service's or its store's, and not the client's.
	Fault bool
	// Time is when it was refused.
	Time time.Time
	// ID is that of a sealed token, unverified unless the token opened; the ulid of a handle or a data-layer session.
	ID string
	// Principal is the caller; zero if not resolved, or anonymous.
	Principal Principal
	// Method is that of the message. CustomMethod: it is none of the protocol's, so a client may have made it up.
	Method       string
	CustomMethod bool
	// Target is the tool, prompt or resource; a client may have invented it, of at most 1,024 bytes.
	Target string
}

// TokenEvent is the argument of [OnEvent]: what happened to a token that was not refused.
type TokenEvent struct {
	// Event is opened, which passed every check, sealed, ended or revoked.
	Event string
	// Kind is request-state, cursor, handle-state, handle, link or session.
	Kind string
	// Took is how long since its message, or the handler's result or call, came to the guard, with what the author's functions
	// and the ledger took.
	Took time.Duration
	// KeyID is the key's, 8 hex digits; empty for a handle whose state the server keeps.
	KeyID string
	// ID is the token's, or the ulid of a handle or a data-layer session.
	ID string
	// Age is how long ago an opened one was made, in whole seconds; negative for others.
	Age time.Duration
	// Principal is the caller; zero for an anonymous one.
	Principal Principal
	// Method is that of the message. CustomMethod: it is none of the protocol's, so a client may have made it up.
	Method       string
	CustomMethod bool
	// Target is the tool, prompt or resource, as the client named it.
	Target string
}

func (g *Guard) log() *slog.Logger {
	if g.logger != nil {
		return g.logger
	}
	return slog.Default()
}

// say logs a line. Its logger is the author's, and its panic has nowhere to be told.
func (g *Guard) say(ctx context.Context, level slog.Level, line string, attributes ...slog.Attr) {
	_, _ = safely(func() (any, error) { g.log().LogAttrs(ctx, level, line, attributes...); return nil, nil })
}

// call calls the author's hooks. What one of them does ends no request, and no other hook.
func call[T any](ctx context.Context, g *Guard, name string, hooks []func(T), told T) {
	for _, hook := range hooks {
		if _, err := safely(func() (any, error) { hook(told); return nil, nil }); err != nil {
			g.say(ctx, slog.LevelError, "sealwax: "+name+": expected a function that returns, found "+ours(err).Message)
		}
	}
}

// report logs a refusal, and tells the author's hooks.
func (g *Guard) report(ctx context.Context, entry *engine.Refused) {
	level := slog.LevelWarn
	if entry.Level == "error" {
		level = slog.LevelError
	}
	var attributes []slog.Attr
	if g.logger != nil {
		attributes = append(attributes, members(entry))
	}
	g.say(ctx, level, entry.Line, attributes...)
	if len(g.onRefused) == 0 {
		return
	}
	at, _ := time.Parse(time.RFC3339, entry.Time)
	refusal := Refusal{
		Code: entry.Code, Kind: entry.Kind, Message: entry.Message, Fault: level == slog.LevelError, Time: at, ID: entry.ID,
		Principal: principalOf(entry.Principal),
		Method:    entry.Method, CustomMethod: entry.CustomMethod, Target: entry.Target,
	}
	call(ctx, g, "OnRefused", g.onRefused, refusal)
}

func members(entry *engine.Refused) slog.Attr {
	found := []any{slog.String("code", entry.Code), slog.String("kind", entry.Kind), slog.String("message", entry.Message)}
	add := func(name string, text *string) {
		if text != nil && *text != "" {
			found = append(found, slog.String(name, *text))
		}
	}
	add("time", &entry.Time)
	add("method", &entry.Method)
	add("target", &entry.Target)
	add("id", &entry.ID)
	add("issuer", entry.Issuer)
	add("client", entry.Client)
	add("subject", entry.Subject)
	return slog.Group("sealwax", found...)
}

// observe tells the author's hooks of an event.
func (g *Guard) observe(ctx context.Context, event *engine.TokenEvent, took time.Duration) {
	age := time.Duration(-1)
	if event.Age != nil {
		age = time.Duration(*event.Age) * time.Second
	}
	told := TokenEvent{
		Event: event.Event, Kind: event.Kind, Took: took, KeyID: event.KeyID, ID: event.ID, Age: age,
		Principal: principalOf(event.Principal),
		Method:    event.Method, CustomMethod: event.CustomMethod, Target: event.Target,
	}
	call(ctx, g, "OnEvent", g.onEvent, told)
}

// fault reports a mistake that the engine did not see: the author's, or our own.
func (g *Guard) fault(ctx context.Context, err error) {
	g.reportFault(ctx, err, engine.Fault{Kind: "session"})
}

func (g *Guard) reportFault(ctx context.Context, err error, fault engine.Fault) {
	fault.Code, fault.Message = string(ours(err).Code), ours(err).Message
	entry, failed := g.rules.Report(fault)
	if failed != nil {
		g.say(ctx, slog.LevelError, "sealwax: "+err.Error())
		return
	}
	g.report(ctx, entry)
}
