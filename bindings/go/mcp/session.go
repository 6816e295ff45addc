package sealwaxmcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// A Session is that of the request that is being served. Its value is a T, as JSON.
//
// Without a ledger, the last of two concurrent writes wins, and both have the same generation. With a ledger only one of two
// concurrent requests can [Session.Write]; the other's result is discarded. Concurrent calls of [Session.Update] all take effect.
type Session[T any] struct {
	of    *session
	value T
}

// session is what every [Session] of a request shares.
type session struct {
	exchange *exchange
	opened   *engine.Session

	mu sync.Mutex
	// value is the value as it was written last, as JSON; nil if the server holds it.
	value   []byte
	updates []func([]byte) ([]byte, error)
	make    func([]byte) (mcp.Result, error)
	made    mcp.Result
}

func newSession(x *exchange, opened *engine.Session) *session {
	s := &session{exchange: x, opened: opened}
	if opened.Value != nil {
		s.value = []byte(*opened.Value)
	}
	return s
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
	written, err := encoded("value", value)
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
	s.of.value, s.value = written, value
	return nil
}

// Update replaces the value by f(value), and returns the new one.
//
// With a ledger no concurrent write is lost: if another request wrote meanwhile, f is called again with the newer value when the
// result leaves, at most 32 times. It should have no side effects, and must not use the session. What it returned before may be wrong then, so make the
// result with [Result]. After a Write in the same request f is not called again.
func (s *Session[T]) Update(f func(T) (T, error)) (T, error) {
	var value T
	apply := func(before []byte) ([]byte, error) {
		var found T
		if before != nil {
			if err := json.Unmarshal(before, &found); err != nil {
				return nil, err
			}
		}
		changed, err := f(found)
		if err != nil {
			return nil, err
		}
		value = changed
		return encoded("value", changed)
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	written, err := apply(s.of.value)
	if err != nil {
		return s.value, err
	}
	x, err := s.of.exchange.engine()
	if err != nil {
		return s.value, err
	}
	if err := x.Update(written); err != nil {
		return s.value, err
	}
	s.of.updates = append(s.of.updates, apply)
	s.of.value, s.value = written, value
	return value, nil
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

// Result makes the handler's result of the session's value, and again of the value that is written at last: if [Session.Update]
// is applied to another request's value, make is called with the outcome, and what it returns leaves instead. The handler
// returns what this returns. The last make counts. Like the functions of Update it should have no side effects.
func Result[T any, R mcp.Result](s *Session[T], make func(T) (R, error)) (R, error) {
	result, err := make(s.value)
	if err != nil {
		return result, err
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.made = whole(result)
	s.of.make = func(written []byte) (mcp.Result, error) {
		var value T
		if err := json.Unmarshal(written, &value); err != nil {
			return nil, err
		}
		made, err := make(value)
		return whole(made), err
	}
	return result, nil
}

// whole fills in what the SDK would put into a copy of a result.
func whole(result mcp.Result) mcp.Result {
	if tool, ok := result.(*mcp.CallToolResult); ok && tool != nil && tool.Content == nil && tool.InputRequests == nil {
		tool.Content = []mcp.Content{}
	}
	return result
}

// leaving is a result on its way out, which an update of its session may make again.
type leaving struct {
	exchange *exchange
	result   mcp.Result
}

// expectMade fails if the handler returned another result than the one it made of the session's value.
func (l *leaving) expectMade() error {
	s := l.exchange.session
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made != nil && s.made != l.result {
		return invalid("result: expected the handler to return what Result gave it, found another")
	}
	return nil
}

// again applies the session's functions to the value of another request.
func (l *leaving) again(value []byte) (any, []byte) {
	s := l.exchange.session
	s.mu.Lock()
	defer s.mu.Unlock()
	name, expected := "update", "a value"
	for _, apply := range s.updates {
		changed, err := apply(value)
		if err != nil {
			return failedAgain(name, expected, err), nil
		}
		value = changed
	}
	again := map[string]any{}
	if s.make != nil {
		made, err := s.make(value)
		if err != nil {
			return failedAgain("result", "a result", err), nil
		}
		l.result = made
		again["result"] = factsOf(made, l.exchange.fields).Document(l.exchange.fields)
	}
	return map[string]any{"updated": again}, value
}

// failedAgain does not say what an error says: that may hold the session's value.
func failedAgain(name, expected string, err error) any {
	return map[string]any{"updated": engine.Failed{Failed: fmt.Sprintf("%s: expected %s, found %T", name, expected, err)}}
}

// Of returns the session of a request. ctx is the handler's. The error is [ErrNoSession] if the request has none.
func (s *Sessions[T]) Of(ctx context.Context) (*Session[T], error) {
	x, err := s.guard.exchangeOf(ctx)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	of := x.session
	x.mu.Unlock()
	if of == nil {
		return nil, ErrNoSession
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	found := &Session[T]{of: of}
	if of.value != nil {
		if err := json.Unmarshal(of.value, &found.value); err != nil {
			return nil, invalid("value: expected a %T in the session, found another value", found.value)
		}
	}
	return found, nil
}
