package sealwax

import (
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Key is a secret key. It is never printed, and wiped from memory when it is collected.
type Key struct {
	key *host.Key
	id  string
}

// GenerateKey makes a key from the system's randomness.
func GenerateKey() (*Key, error) {
	var made *Key
	err := host.Do(func(c *host.Call) error {
		defer c.WipeStack()
		out := c.Room(4)
		if err := c.Check(c.Xsealwax_key_generate(out, c.Error())); err != nil {
			return err
		}
		key := c.Ptr(out)
		defer c.Xsealwax_key_free(key)
		text, err := textOf(c, key)
		if err == nil {
			made, err = describeKey(c, host.KeyOf(text, host.Text), key)
			clear(text)
		}
		return err
	})
	return made, err
}

// ParseKey reads a key's text; its checksum detects typing errors.
func ParseKey(text string) (*Key, error) { return makeKey([]byte(text), host.Text) }

// DeriveKey derives a key from a secret that is there, which is never decoded: a generated text of 32 characters and
// more, such as a framework's SECRET_KEY, 64 hexadecimal digits or 44 characters of base64; never a passphrase. The key
// is the same in every language. Fewer characters, white space, one character repeated, what is no UTF-8, and the text of
// a key are [ErrInvalidKey].
func DeriveKey(secret string) (*Key, error) {
	if !utf8.ValidString(secret) {
		return nil, invalid(ErrInvalidKey, "expected a secret of UTF-8")
	}
	return makeKey([]byte(secret), host.Derived)
}

// KeyFromSecret makes a key from 32 existing random bytes or more, never from a passphrase: fewer bytes, bytes that are
// all equal, and printable ASCII alone are [ErrInvalidKey].
func KeyFromSecret(secret []byte) (*Key, error) { return makeKey(secret, host.Imported) }

func makeKey(bytes []byte, form host.Form) (made *Key, err error) {
	key := host.KeyOf(bytes, form)
	err = host.Do(func(c *host.Call) error {
		return key.With(c, func(at host.Ptr) error {
			made, err = describeKey(c, key, at)
			return err
		})
	})
	return made, err
}

func describeKey(c *host.Call, key *host.Key, at host.Ptr) (*Key, error) {
	id := c.Room(4)
	if err := c.Check(c.Xsealwax_key_id(at, id, c.Error())); err != nil {
		return nil, err
	}
	return &Key{key, hex.EncodeToString(c.View(id, 4))}, nil
}

const keyTextLen = 53

func textOf(c *host.Call, key host.Ptr) ([]byte, error) {
	return c.Written(keyTextLen, func(out host.Ptr, limit int32, size host.Ptr) int32 {
		return c.Xsealwax_key_to_text(key, out, limit, size, c.Error())
	})
}

// ID returns the key's public id, 8 hex digits: readable in every token that the key seals.
func (k Key) ID() string { return k.id }

// Text returns the key's text, for SEALWAX_KEYS: as secret as the key itself. It is empty for an imported secret of
// more than 32 bytes, which has no text. Go cannot wipe a string: do not keep it.
func (k Key) Text() (string, error) {
	if k.key == nil {
		return "", unmade("key")
	}
	var text []byte
	err := host.Do(func(c *host.Call) error {
		return k.key.With(c, func(key host.Ptr) (err error) {
			text, err = textOf(c, key)
			return err
		})
	})
	defer clear(text)
	return string(text), err
}

// KeyRing is 1 to 16 keys in order: the first seals, every one opens. It is never printed.
//
// To rotate keys, give every replica the new key before it seals, and keep the old one until its tokens have expired:
// old, new everywhere, then new, old, then new.
type KeyRing struct {
	ring *host.Ring
	ids  []string
}

// NewKeyRing returns a ring of keys, the sealing one first.
func NewKeyRing(keys ...*Key) (*KeyRing, error) {
	rings := make([]*host.Ring, len(keys))
	for n, key := range keys {
		if key == nil || key.key == nil {
			return nil, unmade("key")
		}
		rings[n] = host.RingOfKey(key.key)
	}
	return makeRing(host.RingOfRings(rings))
}

// JoinKeyRings returns a ring of the keys of rings, the sealing one first.
func JoinKeyRings(rings ...*KeyRing) (*KeyRing, error) {
	held := make([]*host.Ring, len(rings))
	for n, ring := range rings {
		if ring == nil || ring.ring == nil {
			return nil, unmade("key ring")
		}
		held[n] = ring.ring
	}
	return makeRing(host.RingOfRings(held))
}

// ParseKeyRing reads key texts separated by commas or white space. # and what follows in its line is a comment.
func ParseKeyRing(text string) (*KeyRing, error) { return parseRing([]byte(text)) }

func parseRing(text []byte) (*KeyRing, error) {
	if !utf8.Valid(text) {
		return nil, invalid(ErrInvalidKey, "expected UTF-8")
	}
	return makeRing(host.RingOf(text))
}

const ringIDsMax = 64

func makeRing(ring *host.Ring) (*KeyRing, error) {
	made := &KeyRing{ring: ring}
	err := host.Do(func(c *host.Call) error { return ring.With(c, func(at host.Ptr) error { return made.readIDs(c, at) }) })
	if err != nil {
		return nil, err
	}
	return made, nil
}

// readIDs reads the ids of a ring's object. One that is none has none.
func (r *KeyRing) readIDs(c *host.Call, ring host.Ptr) error {
	if ring == 0 {
		return nil
	}
	ids, err := c.Written(ringIDsMax, func(out host.Ptr, limit int32, size host.Ptr) int32 {
		return c.Xsealwax_ring_ids(ring, out, limit, size, c.Error())
	})
	for id := range slices.Chunk(ids, 4) {
		r.ids = append(r.ids, hex.EncodeToString(id))
	}
	return err
}

// IDs returns the ids of the keys, the sealing one first.
func (r KeyRing) IDs() []string { return slices.Clone(r.ids) }

func (k Key) describe() string { return "Key(" + k.id + ")" }

func (r KeyRing) describe() string { return "KeyRing(" + strings.Join(r.ids, " ") + ")" }

// String returns the key's id alone.
func (k Key) String() string { return k.describe() }

// GoString returns the key's id alone.
func (k Key) GoString() string { return k.describe() }

// Format writes the key's id alone.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.describe())) }

// LogValue returns the key's id alone.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.describe()) }

// MarshalText returns the key's id alone, for encoders of JSON and others.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.describe()), nil }

// String returns the ids alone.
func (r KeyRing) String() string { return r.describe() }

// GoString returns the ids alone.
func (r KeyRing) GoString() string { return r.describe() }

// Format writes the ids alone.
func (r KeyRing) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(r.describe())) }

// LogValue returns the ids alone.
func (r KeyRing) LogValue() slog.Value { return slog.StringValue(r.describe()) }

// MarshalText returns the ids alone, for encoders of JSON and others.
func (r KeyRing) MarshalText() ([]byte, error) { return []byte(r.describe()), nil }
