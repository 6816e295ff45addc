package host

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// The structs of the header, laid out as on wasm32 (bindings/c/include/sealwax.wasm32.json).
const (
	purposeSize    = 28
	lifetimeSize   = 16
	openedSize     = 48
	identifierSize = 40
	inspectionSize = 72
)

// Never is a time that never comes.
const Never uint64 = math.MaxUint64

// Purpose is a sealwax_purpose; nil is absent.
type Purpose struct {
	Kind             int32
	Label, SessionID *string
	Context          []byte
}

// PutPurpose copies a purpose into the module.
func (c *Call) PutPurpose(p *Purpose) Ptr {
	at := c.Room(purposeSize)
	label, labelLen := c.GivenText(p.Label)
	id, idLen := c.GivenText(p.SessionID)
	context, contextLen := c.GivenBytes(p.Context)
	to := c.View(at, purposeSize)
	for n, value := range [...]int32{p.Kind, label, labelLen, id, idLen, context, contextLen} {
		binary.LittleEndian.PutUint32(to[4*n:], uint32(value))
	}
	return at
}

// Lifetime is a sealwax_lifetime.
type Lifetime struct {
	TTL      uint64
	NoExpiry bool
}

// PutLifetime copies a lifetime into the module; nil is the kind's default.
func (c *Call) PutLifetime(l *Lifetime) Ptr {
	if l == nil {
		return 0
	}
	at := c.Room(lifetimeSize)
	to := c.View(at, lifetimeSize)
	binary.LittleEndian.PutUint64(to, l.TTL)
	if l.NoExpiry {
		to[8] = 1
	}
	return at
}

// Seconds returns whole seconds: neither the format nor the engine has a smaller unit.
func Seconds(name string, given time.Duration) (*uint64, error) {
	if given < 0 || given%time.Second != 0 {
		return nil, invalid(fmt.Sprintf("%s: expected whole seconds, found %v", name, given))
	}
	found := uint64(given / time.Second)
	return &found, nil
}

// Opened is a sealwax_opened.
type Opened struct {
	IssuedAt, ExpiresAt, StartedAt uint64
	Generation                     uint32
	NeedsReseal, NeedsRenewal      bool
	TokenID                        [16]byte
}

// RoomForOpened returns an address for the claims of a token.
func (c *Call) RoomForOpened() Ptr { return c.Room(openedSize) }

// Opened reads the claims of a token.
func (c *Call) Opened(at Ptr) Opened {
	from := c.View(at, openedSize)
	return Opened{
		IssuedAt:     binary.LittleEndian.Uint64(from),
		ExpiresAt:    binary.LittleEndian.Uint64(from[8:]),
		StartedAt:    binary.LittleEndian.Uint64(from[16:]),
		Generation:   binary.LittleEndian.Uint32(from[24:]),
		NeedsReseal:  from[28] != 0,
		NeedsRenewal: from[29] != 0,
		TokenID:      [16]byte(from[30:]),
	}
}

// PutOpened copies the claims of a token into the module.
func (c *Call) PutOpened(o *Opened) Ptr {
	at := c.Room(openedSize)
	to := c.View(at, openedSize)
	binary.LittleEndian.PutUint64(to, o.IssuedAt)
	binary.LittleEndian.PutUint64(to[8:], o.ExpiresAt)
	binary.LittleEndian.PutUint64(to[16:], o.StartedAt)
	binary.LittleEndian.PutUint32(to[24:], o.Generation)
	to[28], to[29] = flag(o.NeedsReseal), flag(o.NeedsRenewal)
	copy(to[30:], o.TokenID[:])
	return at
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Identifier is a sealwax_identifier.
type Identifier struct {
	CreatedAt, EndsAt uint64
	ULID              [16]byte
	NeedsReseal       bool
}

// RoomForIdentifier returns an address for the facts of a session id or a handle.
func (c *Call) RoomForIdentifier() Ptr { return c.Room(identifierSize) }

// Identifier reads the facts of a session id or a handle.
func (c *Call) Identifier(at Ptr) Identifier {
	from := c.View(at, identifierSize)
	return Identifier{
		CreatedAt:   binary.LittleEndian.Uint64(from),
		EndsAt:      binary.LittleEndian.Uint64(from[8:]),
		ULID:        [16]byte(from[16:]),
		NeedsReseal: from[32] != 0,
	}
}

// Inspection is a sealwax_inspection.
type Inspection struct {
	What, Kind int32
	CreatedAt  uint64
	KeyID      [4]byte
	TokenID    [16]byte
	HandleType string
}

// RoomForInspection returns an address for the claims of a text.
func (c *Call) RoomForInspection() Ptr { return c.Room(inspectionSize) }

// Inspection reads the claims of a text.
func (c *Call) Inspection(at Ptr) Inspection {
	from := c.View(at, inspectionSize)
	return Inspection{
		What:       int32(binary.LittleEndian.Uint32(from)),
		Kind:       int32(binary.LittleEndian.Uint32(from[4:])),
		CreatedAt:  binary.LittleEndian.Uint64(from[8:]),
		KeyID:      [4]byte(from[16:]),
		TokenID:    [16]byte(from[20:]),
		HandleType: string(from[40:][:binary.LittleEndian.Uint32(from[36:])]),
	}
}
