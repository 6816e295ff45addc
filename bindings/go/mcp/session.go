package sealwaxmcp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/sealwax/sealwax-go/internal/engine"
	"github.com/sealwax/sealwax-go/internal/host"
)

// A Session is that of the request that is being served. Its value is a T, as JSON.
//
// Without a ledger, the last of two concurrent writes wins, and both have the same generation. With a ledger only one of two
// concurrent requests can [Session.Write]; the other's result is discarded, and its client hears that its state is stale.
type Session[T any] struct {
	of    *session
	value T
}

// session is what every [Session] of a request shares.
type session struct {
	exchange *exchange

	mu sync.Mutex
	// opened has the value as it was written last; none if the server holds it.
	opened *engine.Session
}

// ID returns the session's id. Log the ulid instead: with the id, its user can delete the session.
func (s *Session[T]) ID() string { return s.of.opened.ID }

// ULID returns the session's ulid, stable for its lifetime: for logs, and as a key in a store.
func (s *Session[T]) ULID() string { return s.of.opened.ULID }

// Generation returns the number of writes before this request; 0 if the server holds the value.
func (s *Session[T]) Generation() uint32 { return s.of.opened.Generation }

// Value returns the value, as it was written last; the zero value if the server holds it.
func (s *Session[T]) Value() T { return s.value }

// Write sends a new value with the response, unless that is a JSON-RPC error.
func (s *Session[T]) Write(value T) error {
	written, err := host.JSON("value", value)
	if err != nil {
		return err
	}
	x, err := s.of.exchange.engine()
	if err != nil {
		return err
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if err := x.Write(written); err != nil {
		return err
	}
	text := string(written)
	s.of.opened.Value, s.value = &text, value
	return nil
}

// Fork returns the metadata of a new session that begins with this one's value. Return it to the client in a result, to send
// with the requests of that session.
func (s *Session[T]) Fork() (json.RawMessage, error) {
	x, err := s.of.exchange.engine()
	if err != nil {
		return nil, err
	}
	return x.Fork()
}

func (x *exchange) ofSession() *session {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.session
}

// Of returns the session of a request. ctx is the handler's. The error is [ErrNoSession] if the request has none.
func (s *Sessions[T]) Of(ctx context.Context) (*Session[T], error) {
	x, err := s.guard.exchangeOf(ctx)
	if err != nil {
		return nil, err
	}
	of := x.ofSession()
	if of == nil {
		return nil, ErrNoSession
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	found := &Session[T]{of: of}
	if of.opened.Value != nil {
		if found.value, err = read[T]("session", *of.opened.Value); err != nil {
			return nil, err
		}
	}
	return found, nil
}
