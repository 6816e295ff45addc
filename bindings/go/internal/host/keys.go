package host

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
)

// Key is a secret, in the memory of Go: every pooled instance needs it at its own time. It is wiped when it is collected.
type Key struct{ *secret }

type secret struct {
	bytes []byte
	form  Form
}

// Form is what a secret is.
type Form int

const (
	// Text is the text of a key.
	Text Form = iota
	// Imported is a secret to import.
	Imported
	// Derived is a secret to derive a key from.
	Derived
)

// Format writes no secret.
func (k *Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("Key")) }

// Format writes no secret.
func (r *Ring) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("Ring")) }

// KeyOf returns a key of a copy of a secret. It does not check it: make it.
func KeyOf(bytes []byte, form Form) *Key {
	k := &Key{&secret{slices.Clone(bytes), form}}
	runtime.AddCleanup(k, func(s *secret) { clear(s.bytes) }, k.secret)
	return k
}

// With calls f with the key's object, which lives as long as f runs.
func (k *Key) With(c *Call, f func(key Ptr) error) error {
	defer c.WipeStack()
	out := c.Room(4)
	bytes, size := c.Put(k.bytes)
	runtime.KeepAlive(k)
	read := c.Xsealwax_key_parse
	switch k.form {
	case Imported:
		read = c.Xsealwax_key_from_secret
	case Derived:
		read = c.Xsealwax_key_derive
	}
	if err := c.Check(read(bytes, size, out, c.Error())); err != nil {
		return err
	}
	key := c.Ptr(out)
	defer c.Xsealwax_key_free(key)
	return f(key)
}

// Ring is a key ring, in the memory of Go: what makes it.
type Ring struct {
	make func(c *Call, out Ptr) error
}

// RingOf returns a ring of a copy of its text.
func RingOf(text []byte) *Ring {
	return ringOfText(text, func(c *Call, text Ptr, size int32, out Ptr) int32 {
		return c.Xsealwax_ring_parse(text, size, out, c.Error())
	})
}

// RingOfFile returns a ring of a copy of what was read of a file; or of nothing, and why it was not read.
func RingOfFile(path string, text []byte, why string) *Ring {
	return ringOfText(text, func(c *Call, text Ptr, size int32, out Ptr) int32 {
		at, n := c.Text(path)
		said, m := c.Text(why)
		return c.Xsealwax_ring_of_file(at, n, text, size, said, m, out, c.Error())
	})
}

// RingOfVariables returns a ring of a copy of variables of the environment. It is 0 where they name a file.
func RingOfVariables(variables []byte) *Ring {
	return ringOfText(variables, func(c *Call, text Ptr, size int32, out Ptr) int32 {
		return c.Xsealwax_ring_from_variables(text, size, out, c.Error())
	})
}

func ringOfText(text []byte, read func(c *Call, text Ptr, size int32, out Ptr) int32) *Ring {
	held := KeyOf(text, Text)
	return &Ring{func(c *Call, out Ptr) error {
		text, size := c.Put(held.bytes)
		runtime.KeepAlive(held)
		return c.Check(read(c, text, size, out))
	}}
}

// RingOfKey returns a ring of one key.
func RingOfKey(key *Key) *Ring {
	return &Ring{func(c *Call, out Ptr) error {
		return key.With(c, func(key Ptr) error {
			return c.Check(c.Xsealwax_ring_new(c.list([]Ptr{key}), 1, out, c.Error()))
		})
	}}
}

// RingOfRings returns a ring of the keys of rings.
func RingOfRings(rings []*Ring) *Ring {
	rings = slices.Clone(rings)
	return &Ring{func(c *Call, out Ptr) error {
		return withAll(c, rings, nil, func(made []Ptr) error {
			return c.Check(c.Xsealwax_ring_join(c.list(made), int32(len(made)), out, c.Error()))
		})
	}}
}

// With calls f with the ring's object, which lives as long as f runs.
func (r *Ring) With(c *Call, f func(ring Ptr) error) error {
	defer c.WipeStack()
	out := c.Room(4)
	if err := r.make(c, out); err != nil {
		return err
	}
	ring := c.Ptr(out)
	defer c.Xsealwax_ring_free(ring)
	return f(ring)
}

func withAll(c *Call, rings []*Ring, made []Ptr, f func([]Ptr) error) error {
	if len(rings) == 0 {
		return f(made)
	}
	return rings[0].With(c, func(ring Ptr) error { return withAll(c, rings[1:], append(made, ring), f) })
}

func (c *Call) list(objects []Ptr) Ptr {
	list := c.Room(4 * max(len(objects), 1))
	for n, object := range objects {
		binary.LittleEndian.PutUint32(c.View(list+4*Ptr(n), 4), uint32(object))
	}
	return list
}
