package host

import (
	"encoding/binary"

	"github.com/sealwax/sealwax-go/internal/module"
)

// Ptr is an address in the memory of the module; 0 is NULL.
type Ptr = int32

// Call is one call into the module. It has the functions of sealwax.h as methods, Xsealwax_…. It ends when the
// function that got it returns.
type Call struct {
	*module.Module
	pooled *pooled
	in     *instance
	// The scratch: what is used of it, and its rest.
	start, at, end Ptr
	// What was allocated beside it, for a large call.
	more []chunk
	err  Ptr
}

type chunk struct{ at, size Ptr }

const (
	scratchSize = 32 << 10
	// The stack lies below all else (bindings/c/portable.md).
	stackSize = 128 << 10
	errorSize = 256
	messageAt = 4
)

// Room returns an address of n bytes for an output, aligned for every struct. They are zero.
func (c *Call) Room(n int) Ptr {
	if n < 0 || n > 1<<30 {
		panic("sealwax: a size out of range")
	}
	size := (Ptr(n) + 7) &^ 7
	if size > c.end-c.at {
		at := c.Xsealwax_alloc(size)
		if at == 0 {
			panic("sealwax: no memory")
		}
		c.more = append(c.more, chunk{at, size})
		clear(c.memory()[uint32(at):][:size])
		return at
	}
	at := c.at
	c.at += size
	return at
}

// Put copies bytes into the module. Without any it still returns an address: what is empty is not absent.
func (c *Call) Put(b []byte) (Ptr, int32) {
	at := c.Room(max(len(b), 1))
	copy(c.memory()[uint32(at):], b)
	return at, int32(len(b))
}

// Text copies a text into the module, as Put does.
func (c *Call) Text(s string) (Ptr, int32) {
	at := c.Room(max(len(s), 1))
	copy(c.memory()[uint32(at):], s)
	return at, int32(len(s))
}

// GivenText is Text for an optional argument: NULL for nil.
func (c *Call) GivenText(s *string) (Ptr, int32) {
	if s == nil {
		return 0, 0
	}
	return c.Text(*s)
}

// GivenBytes is Put for an optional argument: NULL for nil.
func (c *Call) GivenBytes(b []byte) (Ptr, int32) {
	if b == nil {
		return 0, 0
	}
	return c.Put(b)
}

// Bytes copies n bytes out of the module.
func (c *Call) Bytes(at Ptr, n uint32) []byte {
	return append(make([]byte, 0, n), c.View(at, n)...)
}

// String copies a text out of the module.
func (c *Call) String(at Ptr, n uint32) string { return string(c.View(at, n)) }

// View returns n bytes of the module's memory. Use it before the next call into the module, which may move the memory.
func (c *Call) View(at Ptr, n uint32) []byte { return c.memory()[uint32(at):][:n:n] }

// CString copies a text with a NUL at its end out of the module.
func (c *Call) CString(at Ptr) string {
	rest := c.memory()[uint32(at):]
	for n, b := range rest {
		if b == 0 {
			return string(rest[:n])
		}
	}
	panic("sealwax: a text without an end")
}

// Uint32 reads a number, such as a size.
func (c *Call) Uint32(at Ptr) uint32 { return binary.LittleEndian.Uint32(c.memory()[uint32(at):]) }

// Uint64 reads a number.
func (c *Call) Uint64(at Ptr) uint64 { return binary.LittleEndian.Uint64(c.memory()[uint32(at):]) }

// Ptr reads an address, such as that of a new object.
func (c *Call) Ptr(at Ptr) Ptr { return Ptr(c.Uint32(at)) }

// PutUint64 copies a number into the module; NULL for nil.
func (c *Call) PutUint64(value *uint64) Ptr {
	if value == nil {
		return 0
	}
	at := c.Room(8)
	binary.LittleEndian.PutUint64(c.View(at, 8), *value)
	return at
}

// Error returns the address for the error of a function.
func (c *Call) Error() Ptr {
	if c.err == 0 {
		c.err = c.Room(errorSize)
	}
	return c.err
}

// Check returns the error of a function that was given Error, by its status.
func (c *Call) Check(status int32) error {
	if status == 0 {
		return nil
	}
	refused := c.Xsealwax_is_refusal(status) != 0
	return NewError(status, c.CString(c.Xsealwax_code(status)), c.CString(c.Error()+messageAt), refused)
}

// Written calls a function that writes at most limit bytes, and returns them.
func (c *Call) Written(limit int, write func(out Ptr, limit int32, size Ptr) (status int32)) ([]byte, error) {
	out, size := c.Room(limit), c.Room(4)
	if err := c.Check(write(out, int32(limit), size)); err != nil {
		return nil, err
	}
	return c.Bytes(out, c.Uint32(size)), nil
}

// WipeStack wipes what functions left on the stack of the module, after those of keys.
func (c *Call) WipeStack() { clear(c.memory()[:stackSize]) }

func (c *Call) memory() []byte { return *c.in.memory }

func (s *pooled) begin() *Call {
	start := s.in.scratch
	s.call = Call{s.in.Module, s, s.in, start, start, start + scratchSize, s.call.more[:0], 0}
	return &s.call
}

// finish wipes what the call wrote.
func (c *Call) finish() {
	for _, one := range c.more {
		c.Xsealwax_free(one.at, one.size)
	}
	clear(c.memory()[c.start:c.at])
}
