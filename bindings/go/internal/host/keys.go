package host

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
)

// Key is a secret, in the memory of Go: every shard needs it at its own time. It is wiped when it is collected.
type Key struct{ *secret }

type secret struct {
	bytes []byte
	// Whether they are a key's text, or else a secret to import.
	isText bool
}

// Format writes no secret.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("Key")) }

// Format writes no secret.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("Ring")) }

// KeyOf returns a key of a copy of its text, or of a secret to import. It does not check it: make it.
func KeyOf(bytes []byte, isText bool) *Key {
	k := &Key{&secret{slices.Clone(bytes), isText}}
	runtime.AddCleanup(k, func(s *secret) { clear(s.bytes) }, k.secret)
	return k
}

// With calls f with the key's object, which lives as long as f runs.
func (k *Key) With(c *Call, f func(key Ptr) error) error {
	defer c.WipeStack()
	out := c.Room(4)
	bytes, size := c.Put(k.bytes)
	runtime.KeepAlive(k)
	read := c.Xsealwax_key_from_secret
	if k.isText {
		read = c.Xsealwax_key_parse
	}
	if err := c.Check(read(bytes, size, out, c.Error())); err != nil {
		return err
	}
	key := c.Ptr(out)
	defer c.Xsealwax_key_free(key)
	return f(key)
}

// Ring is a key ring, in the memory of Go: its text, or else its keys.
type Ring struct {
	text *Key
	keys []*Key
}

// RingOf returns a ring of a copy of its text.
func RingOf(text []byte) *Ring { return &Ring{text: KeyOf(text, true)} }

// RingOfKeys returns a ring of keys.
func RingOfKeys(keys []*Key) *Ring { return &Ring{keys: slices.Clone(keys)} }

// With calls f with the ring's object, which lives as long as f runs.
func (r *Ring) With(c *Call, f func(ring Ptr) error) error {
	defer c.WipeStack()
	out := c.Room(4)
	if r.text != nil {
		text, size := c.Put(r.text.bytes)
		runtime.KeepAlive(r.text)
		if err := c.Check(c.Xsealwax_ring_parse(text, size, out, c.Error())); err != nil {
			return err
		}
	} else if err := withAll(c, r.keys, nil, func(keys []Ptr) error {
		list := c.Room(4 * max(len(keys), 1))
		for n, key := range keys {
			binary.LittleEndian.PutUint32(c.View(list+4*Ptr(n), 4), uint32(key))
		}
		return c.Check(c.Xsealwax_ring_new(list, int32(len(keys)), out, c.Error()))
	}); err != nil {
		return err
	}
	ring := c.Ptr(out)
	defer c.Xsealwax_ring_free(ring)
	return f(ring)
}

func withAll(c *Call, keys []*Key, made []Ptr, f func([]Ptr) error) error {
	if len(keys) == 0 {
		return f(made)
	}
	return keys[0].With(c, func(key Ptr) error { return withAll(c, keys[1:], append(made, key), f) })
}
