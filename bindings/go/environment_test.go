package sealwax

import (
	"bytes"
	"testing"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// at stops the clock, and gives these bytes as randomness, until the test ends or calls what it returns.
func at(t testing.TB, nowMs int64, random ...byte) (restore func()) {
	t.Helper()
	now := nowMs * int64(time.Millisecond)
	e := systemEnvironment
	e.Now = func() int64 { return now }
	if random != nil {
		e.Random = func(b []byte) bool {
			if len(b) != len(random) {
				t.Errorf("random: expected to be asked for %d bytes, found %d", len(random), len(b))
				return false
			}
			copy(b, random)
			// The core mixes the time into what it draws: this takes it out again.
			for n := 0; n < len(b) && n < 8; n++ {
				b[n] ^= byte(now >> (8 * n))
			}
			return true
		}
	}
	host.SetEnvironment(&e)
	restore = func() { host.SetEnvironment(nil) }
	t.Cleanup(restore)
	return restore
}

var systemEnvironment = host.Environment{
	Now:    func() int64 { return time.Now().UnixNano() },
	Random: func(b []byte) bool { copy(b, bytes.Repeat([]byte{1}, len(b))); return true },
}
