package sealwax

import (
	"github.com/sealwax/sealwax-go/internal/host"
)

// Sealer seals and opens tokens of one kind, for one principal, with the kind's bindings. Opening takes the same
// bindings as sealing; a difference in any of them is refused.
type Sealer struct {
	view    *View
	purpose host.Purpose
	// What is wrong with a binding, which sealing and opening tell.
	err error
}

// Seal seals a payload as a new token, of generation 0: ASCII, fit for JSON, headers and URLs.
func (s Sealer) Seal(payload []byte, lifetime ...Lifetime) (token string, err error) {
	life, err := lifetimeOf(lifetime)
	if err != nil {
		return "", err
	}
	return s.seal(func(c *host.Call, view, purpose, out host.Ptr, limit int32, size host.Ptr) int32 {
		content, contentLen := c.Put(payload)
		return c.Xsealwax_seal(view, purpose, c.PutLifetime(life), content, contentLen, out, limit, size, c.Error())
	})
}

// SealJSON seals a value as JSON, written by [json.Marshal]. Its texts have to be UTF-8.
func (s Sealer) SealJSON(value any, lifetime ...Lifetime) (token string, err error) {
	payload, err := host.JSON("value", value)
	if err != nil {
		return "", err
	}
	return s.Seal(payload, lifetime...)
}

// Renew seals a payload in place of an opened token's. The start is kept, so that a maximum age holds. The generation
// is one more, so that a stale token can be recognized.
func (s Sealer) Renew(opened *Opened, payload []byte, lifetime ...Lifetime) (token string, err error) {
	life, err := lifetimeOf(lifetime)
	if err != nil {
		return "", err
	}
	if opened == nil || !opened.opened {
		return "", unmade("opened")
	}
	return s.seal(func(c *host.Call, view, purpose, out host.Ptr, limit int32, size host.Ptr) int32 {
		content, contentLen := c.Put(payload)
		before := c.PutOpened(&opened.facts)
		return c.Xsealwax_renew(view, purpose, c.PutLifetime(life), before, content, contentLen, out, limit, size, c.Error())
	})
}

func (s Sealer) seal(write func(c *host.Call, view, purpose, out host.Ptr, limit int32, size host.Ptr) int32) (token string, err error) {
	err = s.do(func(c *host.Call, view, purpose host.Ptr) error {
		limit := s.view.host.Codec.TokenLimit
		out, size := c.Room(limit), c.Room(4)
		if err := c.Check(write(c, view, purpose, out, int32(limit), size)); err != nil {
			return err
		}
		token = c.String(out, c.Uint32(size))
		return nil
	})
	return token, err
}

// Open opens a token that came back. Every refusal is [ErrRefused].
func (s Sealer) Open(token string, limit ...Limit) (*Opened, error) {
	age, err := maxAgeOf(limit)
	if err != nil {
		return nil, err
	}
	var opened *Opened
	err = s.do(func(c *host.Call, view, purpose host.Ptr) error {
		text, size := c.Text(token)
		// A payload is always shorter than its token.
		out, written, facts := c.Room(len(token)), c.Room(4), c.RoomForOpened()
		err := c.Check(c.Xsealwax_open(view, purpose, c.PutUint64(age), text, size, out, size, written, facts, c.Error()))
		if err == nil {
			opened = &Opened{c.Bytes(out, c.Uint32(written)), c.Opened(facts), true}
		}
		return err
	})
	return opened, err
}

func (s Sealer) do(f func(c *host.Call, view, purpose host.Ptr) error) error {
	if s.err != nil {
		return s.err
	}
	if s.view == nil {
		return unmade("sealer")
	}
	return s.view.do(func(c *host.Call, view host.Ptr) error { return f(c, view, c.PutPurpose(&s.purpose)) })
}
