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
	"strings"
	"sync"
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

// in runs f in a certain shard.
func in(n int, f func(*Call) error) error {
	s := shards()[n]
	s.mutex.Lock()
	return s.run(f)
}

func newCodec(t *testing.T) *Codec {
	t.Helper()
	codec, err := NewCodec(RingOf([]byte(keyText)), "https://mcp.example.com", Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return codec
}

func newViewOf(codec *Codec, subject string) *View {
	return codec.NewView(Principal{Subject: &subject})
}

func seal(view *View, payload []byte) func(*Call) error {
	return func(c *Call) error {
		at, err := view.At(c)
		if err != nil {
			return err
		}
		purpose := c.PutPurpose(&Purpose{Kind: 3})
		content, size := c.Put(payload)
		token, err := c.Written(view.Codec.TokenLimit, func(out Ptr, limit int32, written Ptr) int32 {
			return c.Xsealwax_seal(at, purpose, 0, content, size, out, limit, written, c.Error())
		})
		if err == nil && !bytes.HasPrefix(token, []byte("sw1.")) {
			err = fmt.Errorf("expected a token, found %s", token)
		}
		return err
	}
}

func TestStructsAreLaidOutAsInTheHeader(t *testing.T) {
	text, err := os.ReadFile("../../../c/include/sealwax.wasm32.json")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the layout is not here")
	}
	type layout struct {
		Size    int
		Members map[string]struct{ Offset int }
	}
	found := map[string]layout{}
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := Do(func(c *Call) error { return checkLayout(t, c, func(name string) layout { return found[name] }) }); err != nil {
		t.Fatal(err)
	}
	for name, expected := range map[string]int{
		"sealwax_purpose": purposeSize, "sealwax_lifetime": lifetimeSize, "sealwax_opened": openedSize,
		"sealwax_identifier": identifierSize, "sealwax_inspection": inspectionSize, "sealwax_error": errorSize,
	} {
		if found[name].Size != expected {
			t.Errorf("%s: expected a size of %d, found %d", name, found[name].Size, expected)
		}
	}
	if at := found["sealwax_error"].Members["message"].Offset; at != messageAt {
		t.Errorf("message: expected at %d, found at %d", at, messageAt)
	}
}

// checkLayout writes members where the header has them, and reads them by this package; and the other way round.
func checkLayout[L interface {
	~struct {
		Size    int
		Members map[string]struct{ Offset int }
	}
}](t *testing.T, c *Call, of func(name string) L) error {
	type plain = struct {
		Size    int
		Members map[string]struct{ Offset int }
	}
	number := func(name string) Ptr {
		// Each byte tells its place.
		size := plain(of(name)).Size
		at := c.Room(size)
		for n := range size {
			c.View(at, uint32(size))[n] = byte(n + 1)
		}
		return at
	}
	offset := func(name, member string) int {
		found, ok := plain(of(name)).Members[member]
		if !ok {
			t.Errorf("%s: expected a member %s", name, member)
		}
		return found.Offset
	}
	same := func(what string, found, first int) {
		if found != first+1 {
			t.Errorf("%s: expected at %d, found at %d", what, first, found-1)
		}
	}
	first := func(n uint64) int { return int(n & 0xff) }

	o := c.Opened(number("sealwax_opened"))
	same("issued_at", first(o.IssuedAt), offset("sealwax_opened", "issued_at"))
	same("expires_at", first(o.ExpiresAt), offset("sealwax_opened", "expires_at"))
	same("started_at", first(o.StartedAt), offset("sealwax_opened", "started_at"))
	same("generation", first(uint64(o.Generation)), offset("sealwax_opened", "generation"))
	same("token_id", int(o.TokenID[0]), offset("sealwax_opened", "token_id"))
	i := c.Identifier(number("sealwax_identifier"))
	same("created_at_ms", first(i.CreatedAt), offset("sealwax_identifier", "created_at_ms"))
	same("ends_at_ms", first(i.EndsAt), offset("sealwax_identifier", "ends_at_ms"))
	same("ulid", int(i.ULID[0]), offset("sealwax_identifier", "ulid"))
	at := number("sealwax_inspection")
	copy(c.View(at+Ptr(offset("sealwax_inspection", "handle_type_len")), 4), []byte{2, 0, 0, 0})
	s := c.Inspection(at)
	same("what", first(uint64(s.What)), offset("sealwax_inspection", "what"))
	same("kind", first(uint64(s.Kind)), offset("sealwax_inspection", "kind"))
	same("created_at_ms", first(s.CreatedAt), offset("sealwax_inspection", "created_at_ms"))
	same("key_id", int(s.KeyID[0]), offset("sealwax_inspection", "key_id"))
	same("token_id", int(s.TokenID[0]), offset("sealwax_inspection", "token_id"))
	same("handle_type", int(s.HandleType[0]), offset("sealwax_inspection", "handle_type"))

	for member, write := range map[string]func() Ptr{
		"sealwax_opened.needs_reseal":    func() Ptr { return c.PutOpened(&Opened{NeedsReseal: true}) },
		"sealwax_opened.needs_renewal":   func() Ptr { return c.PutOpened(&Opened{NeedsRenewal: true}) },
		"sealwax_opened.generation":      func() Ptr { return c.PutOpened(&Opened{Generation: 1}) },
		"sealwax_opened.started_at":      func() Ptr { return c.PutOpened(&Opened{StartedAt: 1}) },
		"sealwax_lifetime.ttl":           func() Ptr { return c.PutLifetime(&Lifetime{TTL: 1}) },
		"sealwax_lifetime.no_expiry":     func() Ptr { return c.PutLifetime(&Lifetime{NoExpiry: true}) },
		"sealwax_purpose.kind":           func() Ptr { return c.PutPurpose(&Purpose{Kind: 1}) },
		"sealwax_purpose.label_len":      func() Ptr { return without(c, c.PutPurpose(&Purpose{Label: text("x")}), 4) },
		"sealwax_purpose.session_id_len": func() Ptr { return without(c, c.PutPurpose(&Purpose{SessionID: text("x")}), 12) },
		"sealwax_purpose.context_len":    func() Ptr { return without(c, c.PutPurpose(&Purpose{Context: []byte("x")}), 20) },
	} {
		name, member, _ := strings.Cut(member, ".")
		expected := make([]byte, plain(of(name)).Size)
		expected[offset(name, member)] = 1
		if found := c.View(write(), uint32(len(expected))); !bytes.Equal(found, expected) {
			t.Errorf("%s.%s: expected %x, found %x", name, member, expected, found)
		}
	}
	return nil
}

// without clears a pointer.
func without(c *Call, at Ptr, offset Ptr) Ptr {
	clear(c.View(at+offset, 4))
	return at
}

func text(s string) *string { return &s }

func TestATrapEndsAnInstanceAlone(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	for n := range shards() {
		if err := in(n, seal(view, nil)); err != nil {
			t.Fatal(err)
		}
	}
	traps := map[string]func(*Call) error{
		"an address outside":  func(c *Call) error { c.Xsealwax_codec_free(-8); return nil },
		"the module's exit":   func(c *Call) error { wasi{}.Xproc_exit(1); return nil },
		"a panic of the host": func(c *Call) error { panic("a fault") },
		"too large a text":    func(c *Call) error { c.Room(-1); return nil },
	}
	for name, trap := range traps {
		var session *Owned
		if err := in(1, func(c *Call) error {
			out := c.Room(4)
			err := c.Check(c.Xsealwax_key_generate(out, c.Error()))
			session = c.Own(c.Ptr(out), (*module.Module).Xsealwax_key_free)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		use := func(c *Call, key Ptr) error {
			return c.Check(c.Xsealwax_key_id(key, c.Room(4), c.Error()))
		}
		if err := session.Do(use); err != nil {
			t.Fatal(err)
		}
		memory := *shards()[1].in.memory
		if err := in(1, trap); err == nil || err.Error() != wordOfBug {
			t.Errorf("%s: %v", name, err)
		}
		for _, b := range memory {
			if b != 0 {
				t.Fatalf("%s: expected memory that was wiped", name)
			}
		}
		if err := session.Do(use); err == nil || err.Error() != wordOfBug {
			t.Errorf("%s: expected that it ended, found %v", name, err)
		}
		session.Close()
		for n := range shards() {
			if err := in(n, seal(view, nil)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestOwnedObjectsAreFreedOnce(t *testing.T) {
	freed := 0
	var made *Owned
	err := in(0, func(c *Call) error {
		made = c.Own(1, func(*module.Module, Ptr) { freed++ })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		made.Close()
	}
	if err := made.Do(func(*Call, Ptr) error { return nil }); err == nil || freed != 1 {
		t.Errorf("expected one that is freed, found %v, %d times", err, freed)
	}
}

// memories returns the size of all memories.
func memories() (total int) {
	for n := range shards() {
		_ = in(n, func(c *Call) error { total += len(c.memory()); return nil })
	}
	return total
}

func TestNothingLeaks(t *testing.T) {
	count := 1_000_000
	if testing.Short() || raceDetector {
		count = 20_000
	}
	codec := newCodec(t)
	work := func(count int) {
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for n := range count / 4 {
					view := newViewOf(codec, fmt.Sprint(worker, n))
					if err := Do(seal(view, []byte("payload"))); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		for range 3 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
	}
	work(20_000)
	before := memories()
	work(count)
	// Garbage is collected late, but it does not grow with the number.
	if after := memories(); after > before+8<<20 {
		t.Errorf("expected about %d bytes, found %d", before, after)
	}
}

func TestAnObjectIsFreedInEachShardThatHasIt(t *testing.T) {
	made, freed := 0, 0
	var mutex sync.Mutex
	count := func(n *int) { mutex.Lock(); *n++; mutex.Unlock() }
	object := Share(func(*module.Module, Ptr) { count(&freed) }, func(*Call) (Ptr, error) { count(&made); return 1, nil })
	for range 3 {
		for _, n := range []int{0, 2} {
			if err := in(n, func(c *Call) error { _, err := object.At(c); return err }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if made != 2 {
		t.Errorf("expected 2, found %d", made)
	}
	object.release()
	for _, n := range []int{0, 2} {
		// A shard that was busy frees it once it is not: what other tests left behind may be freed there.
		if err := in(n, func(*Call) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	mutex.Lock()
	defer mutex.Unlock()
	if freed != 2 {
		t.Errorf("expected 2, found %d", freed)
	}
}

func TestKeysReachEveryShard(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	for n := range shards() {
		if err := in(n, seal(view, nil)); err != nil {
			t.Fatal(err)
		}
	}
	ring := RingOf([]byte(otherText))
	for expected := range 2 {
		changed, err := codec.SetKeys(ring)
		if err != nil || changed != (expected == 0) {
			t.Fatal(changed, err)
		}
	}
	for n := range shards() {
		if codec.has[n] != codec.ring.Load() {
			t.Errorf("shard %d has other keys", n)
		}
	}
	if _, err := codec.SetKeys(RingOf([]byte("swk1_short"))); err == nil {
		t.Error("expected an error")
	}
}

// A shard that fails as it gets new keys has lost its instance, and the old keys with it: the change is made, and nobody hears that
// it was not.
func TestKeysReachAShardThatFails(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	for n := range shards() {
		if err := in(n, seal(view, nil)); err != nil {
			t.Fatal(err)
		}
	}
	last := len(shards()) - 1
	if last == 0 {
		t.Skip("one shard")
	}
	// Out of its memory.
	shards()[last].in.scratch = -scratchSize
	changed, err := codec.SetKeys(RingOf([]byte(otherText)))
	if err != nil || !changed {
		t.Errorf("changed %v: %v", changed, err)
	}
	newer := newViewOf(codec, "alice")
	for n := range shards() {
		if err := in(n, seal(newer, nil)); err != nil || codec.has[n] != codec.ring.Load() {
			t.Errorf("shard %d: %v", n, err)
		}
	}
}

// nowhere reports in which memory of the module some bytes are.
func nowhere(t *testing.T, what string, secret []byte) {
	t.Helper()
	for n, s := range shards() {
		s.mutex.Lock()
		if s.in != nil && bytes.Contains(*s.in.memory, secret) {
			t.Errorf("%s is in the memory of shard %d", what, n)
		}
		s.mutex.Unlock()
	}
}

func TestWhatACallWroteIsWiped(t *testing.T) {
	secret, err := hex.DecodeString(secretHex)
	if err != nil {
		t.Fatal(err)
	}
	// Of other tests.
	for n := range shards() {
		shards()[n].mutex.Lock()
		shards()[n].in = nil
		shards()[n].mutex.Unlock()
	}
	payload := []byte("what only the server and this client may read")
	large := bytes.Repeat(payload, 90)
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	for n := range shards() {
		for _, content := range [][]byte{payload, large} {
			if err := in(n, seal(view, content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := Do(func(c *Call) error {
		return KeyOf(secret, Imported).With(c, func(key Ptr) error {
			_, err := c.Written(53, func(out Ptr, limit int32, size Ptr) int32 {
				return c.Xsealwax_key_to_text(key, out, limit, size, c.Error())
			})
			return err
		})
	}); err != nil {
		t.Fatal(err)
	}
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
		if err := in(3, func(c *Call) error {
			c.Put(large)
			if own {
				last = c.Own(c.Xsealwax_alloc(16), func(m *module.Module, at Ptr) { m.Xsealwax_free(at, 16) })
			}
			return seal(view, nil)(c)
		}); err != nil {
			t.Fatal(err)
		}
	}
	work(false)
	if shards()[3].in != nil {
		t.Error("expected that the instance ended")
	}
	work(true)
	if err := last.Do(func(*Call, Ptr) error { return nil }); err != nil {
		t.Errorf("expected that what lives there alone stays: %v", err)
	}
	last.Close()
	if shards()[3].in != nil {
		t.Error("expected that the instance ended")
	}
	if err := in(3, seal(view, nil)); err != nil {
		t.Error(err)
	}
}

func TestACallPrefersAShardThatHasTheObject(t *testing.T) {
	codec := newCodec(t)
	view := newViewOf(codec, "alice")
	if err := in(2, seal(view, nil)); err != nil {
		t.Fatal(err)
	}
	if err := view.Do(func(c *Call, _ Ptr) error {
		if c.shard.number != 2 {
			t.Errorf("expected shard 2, found %d", c.shard.number)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestMemoryThatMovesIsWiped(t *testing.T) {
	if err := Do(func(c *Call) error {
		before := c.memory()
		copy(c.View(c.Room(32), 32), "a secret in the scratch")
		for &before[0] == &c.memory()[0] {
			c.Room(1 << 20)
		}
		for _, b := range before {
			if b != 0 {
				t.Error("expected a memory that was wiped")
				break
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestTheStackIsBelowAllElse(t *testing.T) {
	made := module.New(new(cipher), wasi{new(cipher)})
	memory := *made.Xmemory().Slice()
	for at, b := range memory[:stackSize] {
		if b != 0 {
			t.Fatalf("expected the stack, found data at %d", at)
		}
	}
	// The first of the data follows it.
	if bytes.Equal(memory[stackSize:][:1024], make([]byte, 1024)) {
		t.Fatal("expected data behind the stack, found none: is it larger?")
	}
}
