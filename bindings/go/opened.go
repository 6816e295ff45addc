package sealwax

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Opened is the payload and the facts of a token that passed every check. Only opening makes one.
type Opened struct {
	payload []byte
	facts   host.Opened
	opened  bool
}

// Payload returns the payload.
func (o Opened) Payload() []byte { return o.payload }

// JSON reads the payload as JSON into a value, as [json.Unmarshal] does. A payload that does not fit is [ErrMalformed].
func (o Opened) JSON(value any) error {
	if err := json.Unmarshal(o.payload, value); err != nil {
		// What the decoder says may hold the payload.
		return &Error{ErrMalformed, fmt.Sprintf("payload: expected JSON that fits %T", value), statusMalformed, true}
	}
	return nil
}

const statusMalformed = 42

// IssuedAt returns the time at which it was sealed.
func (o Opened) IssuedAt() time.Time { return unixSeconds(o.facts.IssuedAt) }

// ExpiresAt returns the end of its lifetime; the zero time for no expiry.
func (o Opened) ExpiresAt() time.Time { return unixSeconds(o.facts.ExpiresAt) }

// StartedAt returns the start of its session: kept across renewals.
func (o Opened) StartedAt() time.Time { return unixSeconds(o.facts.StartedAt) }

// Generation returns the number of renewals; it stops at its maximum.
func (o Opened) Generation() uint32 { return o.facts.Generation }

// TokenID returns the token's id, by which a ledger records its use: 32 hex digits.
func (o Opened) TokenID() string { return hex.EncodeToString(o.facts.TokenID[:]) }

// NeedsReseal reports whether an older key sealed it: seal it anew before that key is removed.
func (o Opened) NeedsReseal() bool { return o.facts.NeedsReseal }

// NeedsRenewal reports whether to seal it anew even though nothing was written: half of its lifetime has passed, or an
// older key sealed it.
func (o Opened) NeedsRenewal() bool { return o.facts.NeedsRenewal }

// String returns the facts without the payload.
func (o Opened) String() string {
	return fmt.Sprintf("Opened(issued at %d, generation %d, token id %s)", o.facts.IssuedAt, o.facts.Generation, o.TokenID())
}

// Format writes the facts without the payload.
func (o Opened) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(o.String())) }

// LogValue returns the facts without the payload.
func (o Opened) LogValue() slog.Value { return slog.StringValue(o.String()) }
