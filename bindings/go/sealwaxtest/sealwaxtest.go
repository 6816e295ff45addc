// Package sealwaxtest helps to test a server of yours: a clock and a user to set, and a codec for one test.
//
// Let what makes your server take the codec and the principal. Its main function passes the real ones, a test these.
// Only what was made with a clock sees its time; two tests with two clocks run side by side.
package sealwaxtest

import (
	"sync"
	"testing"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
)

// Audience is the service that [NewCodec] is for.
const Audience = "https://test.example.com"

// Clock is one that stands still until it is set or advanced.
type Clock struct{ clock *host.Clock }

// NewClock returns a clock that stands at a time, to the millisecond.
func NewClock(now time.Time) *Clock { return &Clock{host.NewClock(milliseconds(now))} }

// A time before 1970 is 1970, as the system's is.
func milliseconds(t time.Time) uint64 { return uint64(max(0, t.UnixMilli())) }

// Set sets the time; backwards too.
func (c *Clock) Set(now time.Time) { c.clock.Set(milliseconds(now)) }

// Advance lets time pass.
func (c *Clock) Advance(by time.Duration) { c.Set(c.Now().Add(by)) }

// Now returns the time.
func (c *Clock) Now() time.Time { return time.UnixMilli(int64(c.clock.Now())).UTC() }

// NewCodec returns a codec on a clock, with a fresh key: nothing of another test opens at it.
func NewCodec(t testing.TB, clock *Clock, options ...sealwax.Option) *sealwax.Codec {
	t.Helper()
	key, err := sealwax.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	ring, err := sealwax.NewKeyRing(key)
	if err != nil {
		t.Fatal(err)
	}
	return NewCodecOf(t, clock, ring, Audience, options...)
}

// NewCodecOf returns a codec on a clock; the rest is as for [sealwax.New].
func NewCodecOf(t testing.TB, clock *Clock, ring *sealwax.KeyRing, audience string, options ...sealwax.Option) *sealwax.Codec {
	t.Helper()
	codec, err := host.NewCodecOn(clock.clock, ring, audience, options)
	if err != nil {
		t.Fatal(err)
	}
	return codec.(*sealwax.Codec)
}

// User is the principal of all requests of a test, which it may set between them. Its zero value is nobody: a caller
// who is not authenticated.
type User struct {
	mutex     sync.Mutex
	principal sealwax.Principal
}

// NewUser returns the user of the next requests.
func NewUser(principal sealwax.Principal) *User { return &User{principal: principal} }

// Set sets whoever sends the next requests; [sealwax.Principal]{} is nobody.
func (u *User) Set(principal sealwax.Principal) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.principal = principal
}

// Principal returns whoever sends the next request.
func (u *User) Principal() sealwax.Principal {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.principal
}
