package sealwax

import (
	"encoding/hex"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Inspected is what a text claims about itself. None of it is verified.
type Inspected struct {
	// What is the kind of text: token, session-id, handle or key.
	What string
	// KeyID is the id of the key that made it, or that it is; empty for a handle.
	KeyID string
	// Kind is the kind of a token, such as request-state.
	Kind string
	// TokenID is the id of a token in hex digits: [Opened.TokenID].
	TokenID string
	// HandleType is the type of a handle.
	HandleType string
	// CreatedAt is the time of making of a session id or a handle.
	CreatedAt time.Time
}

// What sealwax_inspect tells (sealwax.h).
const (
	isToken     = 1
	isSessionID = 2
	isHandle    = 3
)

// Inspect returns what a text is: a sealed token, a session id, a handle or a key text.
func Inspect(text string) (Inspected, error) {
	var found Inspected
	err := host.Do(func(c *host.Call) error {
		given, size := c.Text(text)
		out := c.RoomForInspection()
		if err := c.Check(c.Xsealwax_inspect(given, size, out, c.Error())); err != nil {
			return err
		}
		seen := c.Inspection(out)
		keyID := hex.EncodeToString(seen.KeyID[:])
		switch seen.What {
		case isToken:
			kind, tokenID := c.CString(c.Xsealwax_kind_name(seen.Kind)), hex.EncodeToString(seen.TokenID[:])
			found = Inspected{What: "token", KeyID: keyID, Kind: kind, TokenID: tokenID}
		case isSessionID:
			found = Inspected{What: "session-id", KeyID: keyID, CreatedAt: unixMilliseconds(seen.CreatedAt)}
		case isHandle:
			found = Inspected{What: "handle", HandleType: seen.HandleType, CreatedAt: unixMilliseconds(seen.CreatedAt)}
		default:
			found = Inspected{What: "key", KeyID: keyID}
		}
		return nil
	})
	return found, err
}

// Version returns the release, such as "0.1.0".
func Version() string {
	version := ""
	_ = host.Do(func(c *host.Call) error { version = c.CString(c.Xsealwax_version()); return nil })
	return version
}
