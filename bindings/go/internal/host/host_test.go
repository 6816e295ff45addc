package host

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sealwax/sealwax-go/internal/module"
)

const (
	keyText   = "swk1_kx9ansYkpVIc19akw9zR2lKZVnLMkzn2H4JqYJUf2Pzwg1wc"
	secretHex = "931f5a9ec624a5521cd7d6a4c3dcd1da52995672cc9339f61f826a60951fd8fc"
	otherText = "swk1_9XNkH4m6VF07gXeugCtljf-jlUeikK0w0Lc-4D7yIAU3IBDp"
	wordOfBug = "internal_error: a fault in sealwax itself; please report it"
)

func TestMain(m *testing.M) {
	// More than the machine may have.
	runtime.GOMAXPROCS(max(4, runtime.GOMAXPROCS(0)))
	os.Exit(m.Run())
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// ok ends a test that cannot go on.
func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in runs f in a certain pooled instance.
func in(n int, f func(*Call) error) error {
	s := pool()[n]
	s.mutex.Lock()
	return s.run(f)
}

func newCodec(t *testing.T) *Codec {
	t.Helper()
	return must(NewCodec(RingOf([]byte(keyText)), "https://mcp.example.com", Limits{}, nil))
}

func newViewOf(codec *Codec, subject string) *View {
	return codec.NewView(Principal{Subject: &subject})
}

// everywhere runs f in each pooled instance.
func everywhere(t *testing.T, f func(*Call) error) {
	t.Helper()
	for n := range pool() {
		if err := in(n, f); err != nil {
			t.Errorf("pooled instance %d: %v", n, err)
		}
	}
}

func seal(view *View, payload []byte) func(*Call) error { return sealed(view, payload, new([]byte)) }

// sealed seals, and keeps the token.
func sealed(view *View, payload []byte, token *[]byte) func(*Call) error {
	return func(c *Call) error {
		at, err := view.At(c)
		if err != nil {
			return err
		}
		purpose := c.PutPurpose(&Purpose{Kind: 3})
		content, size := c.Put(payload)
		*token, err = c.Written(view.Codec.TokenLimit, func(out Ptr, limit int32, written Ptr) int32 {
			return c.Xsealwax_seal(at, purpose, 0, content, size, out, limit, written, c.Error())
		})
		return err
	}
}

// Where the other members are is told by the vectors, of which each is written and read.
func TestStructsAreLaidOutAsInTheHeader(t *testing.T) {
	text, err := os.ReadFile("../../../c/include/sealwax.wasm32.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the layout is not here")
	}
	var found map[string]struct{ Size int }
	ok(t, errors.Join(err, json.Unmarshal(text, &found)))
	for name, expected := range map[string]int{
		"sealwax_purpose": purposeSize, "sealwax_lifetime": lifetimeSize, "sealwax_opened": openedSize,
		"sealwax_identifier": identifierSize, "sealwax_inspection": inspectionSize, "sealwax_error": errorSize,
	} {
		if found[name].Size != expected {
			t.Errorf("%s: expected a size of %d, found %d", name, found[name].Size, expected)
		}
	}
}

func isWiped(memory []byte) bool {
	return !slices.ContainsFunc(memory, func(b byte) bool { return b != 0 })
}

func TestATrapEndsAnInstanceAlone(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	everywhere(t, seal(view, nil))
	traps := map[string]func(*Call) error{
		"an address outside":  func(c *Call) error { c.Xsealwax_codec_free(-8); return nil },
		"the module's exit":   func(c *Call) error { wasi{}.Xproc_exit(1); return nil },
		"a panic of the host": func(c *Call) error { panic("a fault") },
		"too large a text":    func(c *Call) error { c.Room(-1); return nil },
	}
	for name, trap := range traps {
		memory := *pool()[1].in.memory
		if err := in(1, trap); err == nil || err.Error() != wordOfBug {
			t.Errorf("%s: %v", name, err)
		}
		if !isWiped(memory) {
			t.Fatalf("%s: expected memory that was wiped", name)
		}
		everywhere(t, seal(view, nil))
	}
}

func TestOwnedObjectsAreFreedOnce(t *testing.T) {
	freed := 0
	var made *Owned
	ok(t, in(0, func(c *Call) error {
		made = c.Own(1, func(*module.Module, Ptr) { freed++ })
		return nil
	}))
	for range 3 {
		made.Close()
	}
	if err := made.Do(func(*Call, Ptr) error { return nil }); err == nil || freed != 1 {
		t.Errorf("expected one that is freed, found %v, %d times", err, freed)
	}
}

// Views that nobody has any more are freed, in each pooled instance.
func TestNothingLeaks(t *testing.T) {
	if !testing.Short() {
		t.Skip("in the quick run: the race detector takes minutes for it")
	}
	codec := newCodec(t)
	work := func() uint64 {
		for n := range 25_000 {
			everywhere(t, seal(newViewOf(codec, fmt.Sprint(n)), []byte("payload")))
		}
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		return MemorySize()
	}
	before := work()
	// Garbage is collected late, but it does not grow with the number.
	if after := work(); after > before+4<<20 {
		t.Errorf("expected about %d bytes, found %d", before, after)
	}
}

func TestAnObjectIsFreedInEachPooledInstanceThatHasIt(t *testing.T) {
	var made, freed atomic.Int64
	object := Share(func(*module.Module, Ptr) { freed.Add(1) }, func(*Call) (Ptr, error) { made.Add(1); return 1, nil })
	for range 3 {
		for _, n := range []int{0, 2} {
			ok(t, in(n, func(c *Call) error { _, err := object.At(c); return err }))
		}
	}
	object.release()
	// A pooled instance that was busy frees it once it is not: what other tests left behind may be freed there.
	everywhere(t, func(*Call) error { return nil })
	if made.Load() != 2 || freed.Load() != 2 {
		t.Errorf("expected 2 that are freed, found %d and %d", made.Load(), freed.Load())
	}
}

// A pooled instance that fails as it gets new keys has lost its instance, and the old keys with it: the change is made, and nobody hears that
// it was not.
func TestKeysReachEveryPooledInstance(t *testing.T) {
	codec := newCodec(t)
	everywhere(t, seal(newViewOf(codec, "alice"), nil))
	// Out of its memory.
	pool()[3].in.scratch = -scratchSize
	ring := RingOf([]byte(otherText))
	for _, expected := range []bool{true, false} {
		if changed, err := codec.SetKeys(ring); err != nil || changed != expected {
			t.Fatal(changed, err)
		}
	}
	everywhere(t, seal(newViewOf(codec, "alice"), nil))
	for n := range pool() {
		if codec.has[n] != codec.ring.Load() {
			t.Errorf("pooled instance %d has other keys", n)
		}
	}
	if _, err := codec.SetKeys(RingOf([]byte("swk1_short"))); err == nil {
		t.Error("expected an error")
	}
}

// nowhere reports in which memory of the module some bytes are.
func nowhere(t *testing.T, what string, secret []byte) {
	t.Helper()
	for n, s := range pool() {
		s.mutex.Lock()
		if s.in != nil && bytes.Contains(*s.in.memory, secret) {
			t.Errorf("%s is in the memory of pooled instance %d", what, n)
		}
		s.mutex.Unlock()
	}
}

func TestWhatACallWroteIsWiped(t *testing.T) {
	secret := must(hex.DecodeString(secretHex))
	anew()
	payload := []byte("what only the server and this client may read")
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	everywhere(t, seal(view, payload))
	everywhere(t, seal(view, bytes.Repeat(payload, 90)))
	ok(t, Do(func(c *Call) error {
		return KeyOf(secret, Imported).With(c, func(key Ptr) error {
			_, err := c.Written(53, func(out Ptr, limit int32, size Ptr) int32 {
				return c.Xsealwax_key_to_text(key, out, limit, size, c.Error())
			})
			return err
		})
	}))
	nowhere(t, "the payload", payload)
	nowhere(t, "the text of the key", []byte(keyText)[5:40])
	codec.object.release()
	view.object.release()
	nowhere(t, "the secret", secret)
}

func TestALargeInputLeavesNoLargeMemory(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	large := make([]byte, 2*maxMemory)
	var last *Owned
	work := func(own bool) {
		ok(t, in(3, func(c *Call) error {
			c.Put(large)
			if own {
				last = c.Own(c.Xsealwax_alloc(16), func(m *module.Module, at Ptr) { m.Xsealwax_free(at, 16) })
			}
			return seal(view, nil)(c)
		}))
	}
	work(false)
	if pool()[3].in != nil {
		t.Error("expected that the instance ended")
	}
	work(true)
	// What lives there alone stays.
	ok(t, last.Do(func(*Call, Ptr) error { return nil }))
	last.Close()
	if pool()[3].in != nil {
		t.Error("expected that the instance ended")
	}
	ok(t, in(3, seal(view, nil)))
}

func TestACallPrefersAPooledInstanceThatHasTheObject(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	ok(t, in(2, seal(view, nil)))
	ok(t, view.Do(func(c *Call, _ Ptr) error {
		if c.pooled.number != 2 {
			t.Errorf("expected pooled instance 2, found %d", c.pooled.number)
		}
		return nil
	}))
}

func TestMemoryThatMovesIsWiped(t *testing.T) {
	ok(t, Do(func(c *Call) error {
		before := c.memory()
		copy(c.View(c.Room(32), 32), "a secret in the scratch")
		for &before[0] == &c.memory()[0] {
			c.Room(1 << 20)
		}
		if !isWiped(before) {
			t.Error("expected a memory that was wiped")
		}
		return nil
	}))
}

func TestTheStackIsBelowAllElse(t *testing.T) {
	made := module.New(new(cipher), wasi{cipher: new(cipher)})
	memory := *made.Xmemory().Slice()
	// The first of the data follows it.
	if !isWiped(memory[:stackSize]) || isWiped(memory[stackSize:][:1024]) {
		t.Fatal("expected the stack, and data behind it")
	}
}
