package sealwax

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Identifier is a session id or a handle that this service issued to the principal at hand: signed, without a payload.
// Only a view makes one.
//
// It does not authenticate its sender: possession is not authentication.
type Identifier struct {
	text  string
	facts host.Identifier
}

// Text returns what the client sent.
func (i Identifier) Text() string { return i.text }

// CreatedAt returns the time at which it was made, in milliseconds.
func (i Identifier) CreatedAt() time.Time { return unixMilliseconds(i.facts.CreatedAt) }

// EndsAt returns its end under the given maximum age; the zero time if none was given.
func (i Identifier) EndsAt() time.Time { return unixMilliseconds(i.facts.EndsAt) }

// ULID returns its unique part, 32 hex digits: for logs, and as a key in the server's store. Unlike the text, it does
// not let anyone continue a session.
func (i Identifier) ULID() string { return hex.EncodeToString(i.facts.ULID[:]) }

// NeedsReseal reports whether an older key made it: it ends when that key is removed.
func (i Identifier) NeedsReseal() bool { return i.facts.NeedsReseal }

// String returns the facts without the text.
func (i Identifier) String() string {
	return fmt.Sprintf("Identifier(created at %d ms, ulid %s)", i.facts.CreatedAt, i.ULID())
}

// Format writes the facts without the text.
func (i Identifier) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(i.String())) }

// MintSessionID mints a session id: 64 characters, safe in an HTTP header.
func (v *View) MintSessionID() (string, error) {
	return v.written(sessionIDLen, func(c *host.Call, view, out host.Ptr, limit int32, size host.Ptr) int32 {
		return c.Xsealwax_mint_session_id(view, out, limit, size, 0, c.Error())
	})
}

// VerifySessionID verifies a session id that came back.
func (v *View) VerifySessionID(sessionID string, limit ...Limit) (*Identifier, error) {
	return v.verify(sessionID, limit, func(c *host.Call, view, text host.Ptr, size int32, age, facts host.Ptr) int32 {
		return c.Xsealwax_verify_session_id(view, text, size, age, facts, c.Error())
	})
}

// MintHandle mints a handle: its type, an underscore and 42 characters. A type is a lowercase letter, then up to 31
// lowercase letters or digits.
func (v *View) MintHandle(handleType string) (string, error) {
	return v.written(handleMax, func(c *host.Call, view, out host.Ptr, limit int32, size host.Ptr) int32 {
		kind, kindLen := c.Text(handleType)
		return c.Xsealwax_mint_handle(view, kind, kindLen, out, limit, size, 0, c.Error())
	})
}

// VerifyHandle verifies a handle that came back.
func (v *View) VerifyHandle(handleType, handle string, limit ...Limit) (*Identifier, error) {
	return v.verify(handle, limit, func(c *host.Call, view, text host.Ptr, size int32, age, facts host.Ptr) int32 {
		kind, kindLen := c.Text(handleType)
		return c.Xsealwax_verify_handle(view, kind, kindLen, text, size, age, facts, c.Error())
	})
}

// written calls a function of a view that writes a text of at most limit bytes.
func (v *View) written(limit int, write func(c *host.Call, view, out host.Ptr, limit int32, size host.Ptr) int32) (string, error) {
	var text []byte
	err := v.do(func(c *host.Call, view host.Ptr) (err error) {
		text, err = c.Written(limit, func(out host.Ptr, limit int32, size host.Ptr) int32 { return write(c, view, out, limit, size) })
		return err
	})
	return string(text), err
}

func (v *View) verify(
	text string, limit []Limit, check func(c *host.Call, view, text host.Ptr, size int32, age, facts host.Ptr) int32,
) (*Identifier, error) {
	age, err := maxAgeOf(limit)
	if err != nil {
		return nil, err
	}
	var found *Identifier
	err = v.do(func(c *host.Call, view host.Ptr) error {
		sent, size := c.Text(text)
		facts := c.RoomForIdentifier()
		err := c.Check(check(c, view, sent, size, c.PutUint64(age), facts))
		if err == nil {
			found = &Identifier{text, c.Identifier(facts)}
		}
		return err
	})
	return found, err
}
