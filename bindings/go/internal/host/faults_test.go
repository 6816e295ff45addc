package host

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sealwax/sealwax-go/internal/module"
)

// faulty is the imports, of which one fails at its call of a number: by a panic, or as it says so itself.
type faulty struct {
	*cipher
	wasi
	name  string
	at    int
	calls map[string]int
	panic bool
}

// calling counts a call, and makes it unless it is the one that fails.
func (f *faulty) calling(name string, failure int32, call func() int32) int32 {
	f.calls[name]++
	if name != f.name || f.calls[name] != f.at {
		return call()
	}
	if f.panic {
		panic("a fault of the host")
	}
	return failure
}

func (f *faulty) Xseal(key, nonce, ad, adLen, body, bodyLen, tag int32) int32 {
	return f.calling("seal", refused, func() int32 { return f.cipher.Xseal(key, nonce, ad, adLen, body, bodyLen, tag) })
}

func (f *faulty) Xopen(key, nonce, ad, adLen, body, bodyLen, tag int32) int32 {
	return f.calling("open", refused, func() int32 { return f.cipher.Xopen(key, nonce, ad, adLen, body, bodyLen, tag) })
}

func (f *faulty) Xrandom_get(at, size int32) int32 {
	return f.calling("random_get", io, func() int32 { return f.wasi.Xrandom_get(at, size) })
}

func (f *faulty) Xclock_time_get(id int32, precision int64, at Ptr) int32 {
	return f.calling("clock_time_get", io, func() int32 { return f.wasi.Xclock_time_get(id, precision, at) })
}

// failing makes modules whose import fails, until the test ends.
func failing(t *testing.T, name string, at int, panics bool) *faulty {
	t.Helper()
	f := &faulty{name: name, at: at, calls: map[string]int{}, panic: panics}
	own := newModule
	newModule = func(c *cipher) *module.Module {
		f.cipher, f.wasi = c, wasi{cipher: c}
		return module.New(f, f)
	}
	t.Cleanup(func() { newModule = own; anew() })
	anew()
	return f
}

// anew drops all instances: the next ones have the present imports, and nothing of other tests.
func anew() {
	for _, s := range pool() {
		s.mutex.Lock()
		s.in = nil
		s.mutex.Unlock()
	}
}

// open opens a token.
func open(view *View, token []byte) func(*Call) error {
	return func(c *Call) error {
		at, err := view.At(c)
		if err != nil {
			return err
		}
		purpose := c.PutPurpose(&Purpose{Kind: 3})
		text, size := c.Put(token)
		opened, err := c.Written(len(token), func(out Ptr, limit int32, written Ptr) int32 {
			return c.Xsealwax_open(at, purpose, 0, text, size, out, limit, written, 0, c.Error())
		})
		if err == nil && !bytes.Equal(opened, []byte("payload")) {
			err = fmt.Errorf("expected the payload, found %s", opened)
		}
		return err
	}
}

// Each import fails at each of its calls: one call of ours is told so, the instance is wiped if the fault passed through it,
// and everything works again.
func TestAnImportThatFails(t *testing.T) {
	view := newViewOf(newCodec(t), "alice")
	var good []byte
	ok(t, in(0, sealed(view, []byte("payload"), &good)))
	// What an import says itself, and what the caller of the package is told.
	says := map[string]string{
		"seal":           wordOfBug,
		"open":           "unauthentic",
		"random_get":     "entropy_unavailable",
		"clock_time_get": wordOfBug,
	}
	for name, said := range says {
		for _, panics := range []bool{true, false} {
			told := said
			if panics {
				told = wordOfBug
			}
			calls := 0
			for at := 1; ; at++ {
				f := failing(t, name, at, panics)
				failed := 0
				var token []byte
				for _, work := range []func(*Call) error{sealed(view, []byte("payload"), &token), open(view, good), sealed(view, []byte("payload"), &token)} {
					before := pool()[0].in
					err := in(0, work)
					if err == nil {
						continue
					}
					failed++
					if !strings.HasPrefix(err.Error(), told) {
						t.Errorf("%s, call %d: expected %s, found %v", name, at, told, err)
					}
					if before != nil && told == wordOfBug && *before.memory != nil {
						t.Errorf("%s, call %d: expected memory that is gone", name, at)
					}
					if err := in(0, work); err != nil {
						t.Errorf("%s, call %d: expected that it works again, found %v", name, at, err)
					}
				}
				if f.calls[name] < at {
					break
				}
				calls++
				if failed != 1 {
					t.Errorf("%s, call %d: expected an error, found %d", name, at, failed)
				}
				ok(t, in(0, open(view, token)))
			}
			if calls == 0 {
				t.Errorf("%s was never called", name)
			}
		}
	}
}

func TestASystemsTimeIsTheNearestThatThereIs(t *testing.T) {
	for _, c := range []struct {
		at       time.Time
		expected int64
	}{
		{time.Unix(-1, 0), 0},
		{time.Time{}, 0},
		{time.Unix(7, 8), 7_000_000_008},
		{time.Unix(1<<32, 1), 1<<32*1e9 + 1},
		{time.Unix(math.MaxInt64/int64(time.Second), 0), math.MaxInt64},
		// Where the nanoseconds in 64 bits are those of 2026.
		{time.Unix(1_780_000_000+18_446_744_073, 0), math.MaxInt64},
	} {
		if found := nanoseconds(c.at); found != c.expected {
			t.Errorf("%s: expected %d, found %d", c.at, c.expected, found)
		}
	}
}
