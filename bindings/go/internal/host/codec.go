package host

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/sealwax/sealwax-go/internal/module"
)

// Limits are those of a codec; nil is the default.
type Limits struct{ Payload, ClockTolerance, SessionMaxAge *uint64 }

// Codec is a codec in every pooled instance, and its present keys.
type Codec struct {
	audience string
	limits   Limits
	clock    *Clock
	ring     atomic.Pointer[Ring]
	object   *Shared
	// The ring that the object of each pooled instance has, under the pooled instance's lock.
	has []*Ring
	// Held while keys are set.
	setting sync.Mutex

	// TokenLimit and MetadataLimit are the largest sizes of what its views return.
	TokenLimit, MetadataLimit int
}

// NewCodec returns a codec, on the system's clock if the clock is nil.
func NewCodec(ring *Ring, audience string, limits Limits, clock *Clock) (*Codec, error) {
	k := &Codec{audience: audience, limits: limits, clock: clock, has: make([]*Ring, len(pool()))}
	k.ring.Store(ring)
	k.object = Share((*module.Module).Xsealwax_codec_free, func(c *Call) (Ptr, error) {
		ring := k.ring.Load()
		k.has[c.pooled.number] = ring
		return k.create(c, ring)
	})
	err := Do(func(c *Call) error {
		at, err := k.At(c)
		if err == nil {
			k.TokenLimit = int(c.Xsealwax_token_limit(at))
			k.MetadataLimit = int(c.Xsealwax_metadata_limit(at))
		}
		return err
	})
	return k, err
}

func (k *Codec) create(c *Call, ring *Ring) (made Ptr, err error) {
	out := c.Room(4)
	audience, audienceLen := c.Text(k.audience)
	limits := c.Room(12)
	for n, limit := range []*uint64{k.limits.Payload, k.limits.ClockTolerance, k.limits.SessionMaxAge} {
		binary.LittleEndian.PutUint32(c.View(limits+4*Ptr(n), 4), uint32(c.PutUint64(limit)))
	}
	return made, ring.With(c, func(ring Ptr) error {
		if k.clock == nil {
			err = c.Check(c.Xsealwax_codec_new(ring, audience, audienceLen, limits, out, c.Error()))
		} else {
			var clock Ptr
			if clock, err = k.clock.at(c); err != nil {
				return err
			}
			err = c.Check(c.Xsealwax_test_codec_new(ring, audience, audienceLen, limits, clock, out, c.Error()))
		}
		made = c.Ptr(out)
		return err
	})
}

// At returns the codec's address in the call's pooled instance, with its present keys and at its clock's time.
func (k *Codec) At(c *Call) (Ptr, error) {
	if err := k.clock.bring(c); err != nil {
		return 0, err
	}
	at, err := k.object.At(c)
	if err != nil {
		return 0, err
	}
	if ring := k.ring.Load(); k.has[c.pooled.number] != ring {
		if _, err := k.set(c, at, ring); err != nil {
			return 0, err
		}
	}
	return at, nil
}

func (k *Codec) set(c *Call, at Ptr, ring *Ring) (changed bool, err error) {
	out := c.Room(1)
	err = ring.With(c, func(ring Ptr) error {
		return c.Check(c.Xsealwax_codec_set_keys(at, ring, out, c.Error()))
	})
	if err == nil {
		k.has[c.pooled.number] = ring
	}
	return c.View(out, 1)[0] != 0, err
}

// SetKeys replaces the keys in every pooled instance, and reports whether they are others than before.
func (k *Codec) SetKeys(ring *Ring) (changed bool, err error) {
	k.setting.Lock()
	defer k.setting.Unlock()
	err = Do(func(c *Call) error {
		at, err := k.At(c)
		if err != nil {
			return err
		}
		if changed, err = k.set(c, at, ring); err == nil {
			// From here on, each pooled instance that does not have them takes them before it uses the codec.
			k.ring.Store(ring)
		}
		return err
	})
	if err != nil || !changed {
		return false, err
	}
	// The old keys are to be wiped now, and not when a pooled instance is next used. One that fails has lost its instance, and them with it.
	for _, each := range pool() {
		if k.object.made.Load()&(1<<each.number) == 0 {
			continue
		}
		each.mutex.Lock()
		if each.in == nil {
			each.mutex.Unlock()
			continue
		}
		_ = each.run(func(c *Call) error { _, err := k.At(c); return err })
	}
	return true, nil
}

// Principal is who a view is for: anonymous alone, or parts of which nil is absent.
type Principal struct {
	Issuer    *string `json:"issuer,omitempty"`
	Client    *string `json:"client,omitempty"`
	Subject   *string `json:"subject,omitempty"`
	Anonymous bool    `json:"anonymous,omitempty"`
}

// View is a codec for one principal, in every pooled instance, with the keys that the codec had when it was made.
type View struct {
	Codec  *Codec
	object *Shared
}

// NewView returns a view. It makes none yet: the first use tells of a wrong principal.
func (k *Codec) NewView(p Principal) *View {
	ring := k.ring.Load()
	return &View{k, Share((*module.Module).Xsealwax_view_free, func(c *Call) (Ptr, error) {
		codec, err := k.At(c)
		if err != nil {
			return 0, err
		}
		if k.has[c.pooled.number] != ring {
			if codec, err = k.create(c, ring); err != nil {
				return 0, err
			}
			defer c.Xsealwax_codec_free(codec)
		}
		return newView(c, codec, p)
	})}
}

func newView(c *Call, codec Ptr, p Principal) (Ptr, error) {
	out := c.Room(4)
	if p.Anonymous {
		err := c.Check(c.Xsealwax_view_new_anonymous(codec, out, c.Error()))
		return c.Ptr(out), err
	}
	issuer, issuerLen := c.GivenText(p.Issuer)
	client, clientLen := c.GivenText(p.Client)
	subject, subjectLen := c.GivenText(p.Subject)
	err := c.Check(c.Xsealwax_view_new(codec, issuer, issuerLen, client, clientLen, subject, subjectLen, out, c.Error()))
	return c.Ptr(out), err
}

// Do runs f with the view's address in a pooled instance, at its clock's time.
func (v *View) Do(f func(c *Call, view Ptr) error) error {
	return v.object.Do(func(c *Call, view Ptr) error {
		if err := v.Codec.clock.bring(c); err != nil {
			return err
		}
		return f(c, view)
	})
}

// At returns the view's address in the call's pooled instance, at its clock's time.
func (v *View) At(c *Call) (Ptr, error) {
	if err := v.Codec.clock.bring(c); err != nil {
		return 0, err
	}
	return v.object.At(c)
}
