package sealwax

import (
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/internal/module"
)

// SessionMetadata is the value of _meta["io.modelcontextprotocol/session"]. As JSON it is whole; printed and logged, without
// its id and its state.
type SessionMetadata struct {
	SessionID string `json:"sessionId"`
	// ExpiresAt is the session's end unless it is renewed, in RFC 3339: a hint for the host.
	ExpiresAt string `json:"expiresAt,omitempty"`
	State     string `json:"state"`
}

// String returns the end alone.
func (m SessionMetadata) String() string { return "SessionMetadata(expires at " + m.ExpiresAt + ")" }

// Format writes the end alone.
func (m SessionMetadata) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(m.String())) }

// LogValue returns the end alone.
func (m SessionMetadata) LogValue() slog.Value { return slog.StringValue(m.String()) }

// Session is an opened data-layer session: its id and its state, every check passed.
type Session struct {
	Opened
	id     string
	object *host.Owned
}

// ID returns the session id.
func (s Session) ID() string { return s.id }

// Sessions are the data-layer sessions of one principal, with no store.
type Sessions struct {
	view     *View
	lifetime *host.Lifetime
	err      error
}

// Sessions returns the data-layer sessions of this principal. One ends when it was idle for its lifetime, 24 hours by
// default, or at the codec's maximum age of sessions, whichever comes first.
func (v *View) Sessions(lifetime ...Lifetime) Sessions {
	life, err := lifetimeOf(lifetime)
	return Sessions{v, life, err}
}

// Create creates a session with a first state.
func (s Sessions) Create(payload []byte) (SessionMetadata, error) {
	return s.write(s.view.do, func(c *host.Call, view, life, out host.Ptr, limit int32, size host.Ptr) int32 {
		content, contentLen := c.Put(payload)
		return c.Xsealwax_session_create(view, life, content, contentLen, out, limit, size, c.Error())
	})
}

// Open opens a client's metadata, as it came: verifies the id, then opens the state that is bound to it. A missing
// state is [ErrMalformed], so that leaving it out does not reset a session.
func (s Sessions) Open(metadata json.RawMessage) (*Session, error) {
	if s.err != nil {
		return nil, s.err
	}
	var opened *Session
	err := s.view.do(func(c *host.Call, view host.Ptr) error {
		made := c.Room(4)
		sent, size := c.Put(metadata)
		if err := c.Check(c.Xsealwax_session_open(view, sent, size, made, c.Error())); err != nil {
			return err
		}
		session := c.Ptr(made)
		opened = &Session{object: c.Own(session, (*module.Module).Xsealwax_session_free)}
		facts := c.RoomForOpened()
		payload, err := c.Written(len(metadata), func(out host.Ptr, limit int32, size host.Ptr) int32 {
			return c.Xsealwax_session_payload(session, out, limit, size, facts, c.Error())
		})
		if err != nil {
			return err
		}
		opened.Opened = Opened{payload, c.Opened(facts), true}
		id, err := c.Written(sessionIDLen, func(out host.Ptr, limit int32, size host.Ptr) int32 {
			return c.Xsealwax_session_id(session, out, limit, size, 0, c.Error())
		})
		opened.id = string(id)
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// Renew returns the metadata of the session with a new state; its id and start are kept.
func (s Sessions) Renew(session *Session, payload []byte) (SessionMetadata, error) {
	return s.writeOf(session, func(c *host.Call, session, view, life, out host.Ptr, limit int32, size host.Ptr) int32 {
		content, contentLen := c.Put(payload)
		return c.Xsealwax_session_renew(view, life, session, content, contentLen, out, limit, size, c.Error())
	})
}

// Fork creates a session that begins with the state of another; both continue.
func (s Sessions) Fork(session *Session) (SessionMetadata, error) {
	return s.writeOf(session, func(c *host.Call, session, view, life, out host.Ptr, limit int32, size host.Ptr) int32 {
		return c.Xsealwax_session_fork(view, life, session, out, limit, size, c.Error())
	})
}

// Verify verifies an id alone, as sessions/delete sends it.
func (s Sessions) Verify(sessionID string) (*Identifier, error) {
	return s.view.verify(sessionID, nil, func(c *host.Call, view, text host.Ptr, size int32, _, facts host.Ptr) int32 {
		return c.Xsealwax_session_verify(view, text, size, facts, c.Error())
	})
}

// writeOf calls a function of an opened session, in the pooled instance where that lives.
func (s Sessions) writeOf(
	session *Session, write func(c *host.Call, session, view, life, out host.Ptr, limit int32, size host.Ptr) int32,
) (SessionMetadata, error) {
	if session == nil || session.object == nil {
		return SessionMetadata{}, unmade("session")
	}
	if s.view == nil || s.view.host == nil {
		return SessionMetadata{}, unmade("sessions")
	}
	var at host.Ptr
	do := func(f func(c *host.Call, view host.Ptr) error) error {
		return session.object.Do(func(c *host.Call, session host.Ptr) error {
			at = session
			view, err := s.view.host.At(c)
			if err != nil {
				return err
			}
			return f(c, view)
		})
	}
	return s.write(do, func(c *host.Call, view, life, out host.Ptr, limit int32, size host.Ptr) int32 {
		return write(c, at, view, life, out, limit, size)
	})
}

// write calls a function that writes metadata.
func (s Sessions) write(
	do func(func(c *host.Call, view host.Ptr) error) error,
	write func(c *host.Call, view, life, out host.Ptr, limit int32, size host.Ptr) int32,
) (metadata SessionMetadata, err error) {
	if s.err != nil {
		return metadata, s.err
	}
	var found []byte
	err = do(func(c *host.Call, view host.Ptr) (err error) {
		life := c.PutLifetime(s.lifetime)
		found, err = c.Written(s.view.host.Codec.MetadataLimit, func(out host.Ptr, limit int32, size host.Ptr) int32 {
			return write(c, view, life, out, limit, size)
		})
		return err
	})
	if err != nil {
		return metadata, err
	}
	return metadata, json.Unmarshal(found, &metadata)
}
