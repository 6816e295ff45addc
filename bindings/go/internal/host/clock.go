package host

import (
	"sync/atomic"

	"github.com/sealwax/sealwax-go/internal/module"
)

// Clock is one that stands still until it is set, for tests of an application.
type Clock struct {
	now    atomic.Uint64
	object *Shared
	// The time of the object of each pooled instance, under the pooled instance's lock.
	shown []uint64
}

// NewClock returns a clock that stands at a time in Unix milliseconds.
func NewClock(now uint64) *Clock {
	k := &Clock{shown: make([]uint64, len(pool()))}
	k.now.Store(now)
	k.object = Share((*module.Module).Xsealwax_test_clock_free, func(c *Call) (Ptr, error) {
		out, now := c.Room(4), k.now.Load()
		k.shown[c.pooled.number] = now
		err := c.Check(c.Xsealwax_test_clock_new(int64(now), out, c.Error()))
		return c.Ptr(out), err
	})
	return k
}

// Set sets the time.
func (k *Clock) Set(now uint64) { k.now.Store(now) }

// Now returns the time.
func (k *Clock) Now() uint64 { return k.now.Load() }

// at returns the clock's address in the call's pooled instance, where it shows the present time.
func (k *Clock) at(c *Call) (Ptr, error) {
	at, err := k.object.At(c)
	if err != nil {
		return 0, err
	}
	if now := k.now.Load(); k.shown[c.pooled.number] != now {
		k.shown[c.pooled.number] = now
		err = c.Check(c.Xsealwax_test_clock_set(at, int64(now), c.Error()))
	}
	return at, err
}

// bring brings the time to the call's pooled instance; nil is the system's clock.
func (k *Clock) bring(c *Call) error {
	if k == nil {
		return nil
	}
	_, err := k.at(c)
	return err
}
