package sealwaxmcp

import (
	"context"
	"encoding/json"
	"time"
)

// Negotiated is what client and server settled when the session of the transport began.
type Negotiated struct {
	ProtocolVersion    string          `json:"protocolVersion"`
	ClientCapabilities json.RawMessage `json:"clientCapabilities"`
	ClientInfo         json.RawMessage `json:"clientInfo"`
	ServerCapabilities json.RawMessage `json:"serverCapabilities"`
	// ID is that of the session's token, for logs.
	ID string `json:"-"`
	// ExpiresAt is the session's end; zero for never.
	ExpiresAt time.Time `json:"-"`
}

// negotiated returns what was settled when the session of a wrapper began; nil if there is none.
func (x *exchange) negotiated() *Negotiated {
	if x.passed == nil || x.passed.Step.Negotiated == nil {
		return nil
	}
	settled := &Negotiated{ID: x.passed.Step.ID}
	if json.Unmarshal([]byte(*x.passed.Step.Negotiated), settled) != nil {
		return nil
	}
	var until int64
	if json.Unmarshal(x.passed.Step.ExpiresAt, &until) == nil && until != 0 {
		settled.ExpiresAt = time.Unix(until, 0)
	}
	return settled
}

// NegotiatedOf returns what was settled when the session of a request's transport began: a stateless server of the SDK does not
// know it. It is nil if the request has no such session, and on stdio, where the SDK knows it.
func NegotiatedOf(ctx context.Context) *Negotiated {
	if x := served(ctx); x != nil && x.passed != nil && x.passed.OverHTTP() {
		return x.negotiated()
	}
	return nil
}

// SessionID returns the id of a request's session, to key rows of your own: verified, and the same for the session's whole life.
// It is that of a data-layer session, or of Mcp-Session-Id and SEP-1359 behind the guard's wrappers; empty without one.
func SessionID(ctx context.Context) string {
	x := served(ctx)
	if x == nil {
		return ""
	}
	// It is none once the request is answered.
	if of := x.ofSession(); of != nil {
		return of.opened.ULID
	}
	if x.passed != nil && x.passed.Step.Negotiated != nil {
		return x.passed.Step.ID
	}
	return ""
}
