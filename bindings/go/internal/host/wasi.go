package host

import (
	"crypto/rand"
	"encoding/binary"
	"math"
	"sync/atomic"
	"time"

	"github.com/sealwax/sealwax-go/internal/module"
)

// Environment is the clock and the randomness of all instances.
type Environment struct {
	// Now returns the Unix time in nanoseconds. One before 1970 counts as 1970: every token is then from the future, and
	// refused.
	Now func() int64
	// Random fills a slice; it reports whether it could.
	Random func([]byte) bool
}

var environment atomic.Pointer[Environment]

func init() { SetEnvironment(nil) }

// SetEnvironment replaces the system's clock and randomness, for the tests of this module; nil is the system's.
func SetEnvironment(e *Environment) {
	if e == nil {
		e = &Environment{
			Now:    func() int64 { return nanoseconds(time.Now()) },
			Random: func(b []byte) bool { _, err := rand.Read(b); return err == nil },
		}
	}
	environment.Store(e)
}

// wasi is what the module asks of its system (WASI, preview 1): a clock and randomness, no files and no variables. It calls no other
// function but in a fault, to write what happened; and a panic is the end of that too.
type wasi struct {
	module.Xwasi_snapshot_preview1
	*cipher
}

const (
	success = 0
	io      = 29
)

func (w wasi) Xclock_time_get(_ int32, _ int64, at Ptr) int32 {
	binary.LittleEndian.PutUint64((*w.memory)[uint32(at):], uint64(max(0, environment.Load().Now())))
	return success
}

// nanoseconds returns a Unix time, or the nearest that there is: after 2262, UnixNano begins anew.
func nanoseconds(t time.Time) int64 {
	if t.Unix() >= math.MaxInt64/int64(time.Second) {
		return math.MaxInt64
	}
	return max(0, t.Unix())*int64(time.Second) + int64(t.Nanosecond())
}

func (w wasi) Xrandom_get(at, size int32) int32 {
	if !environment.Load().Random((*w.memory)[uint32(at):][:uint32(size)]) {
		return io
	}
	return success
}

func (w wasi) Xenviron_sizes_get(count, size Ptr) int32 {
	binary.LittleEndian.PutUint32((*w.memory)[uint32(count):], 0)
	binary.LittleEndian.PutUint32((*w.memory)[uint32(size):], 0)
	return success
}

func (wasi) Xenviron_get(_, _ Ptr) int32 { return success }

// Xproc_exit is how the module ends after a fault in it.
func (wasi) Xproc_exit(int32) { panic("sealwax: a trap") }
