package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/sealwax/sealwax-go/internal/host"
)

// The kinds of frames, and their flags, of sealwax.h.
const (
	kindGuard, kindMessage, kindRevocation, kindReport                 = 1, 2, 4, 5
	kindHandle, kindStore, kindStoreMachine, kindMemory                = 6, 7, 8, 9
	kindHTTP, kindConnection, kindLine, kindLeaves                     = 11, 12, 13, 14
	kindSQLite                                                         = 15
	kindEvent, kindResult, kindSealState, kindWrite, kindFork, kindRun = 16, 17, 19, 20, 21, 22
	kindTold, kindIdempotencyKey, kindStep, kindDeliver                = 23, 24, 32, 33
	kindBody, kindAnswer, kindPiece, kindAnswered                      = 25, 26, 27, 28

	flagModern, flagSession, flagCaller           = 2, 4, 8
	flagAnonymous, flagTTL, flagWaits, flagDefers = 16, 32, 64, 128
	flagCanBeAsked, flagTooLarge, flagChanges     = 1024, 2048, 4096
)

// frame is what a machine is told.
type frame struct {
	kind  byte
	flags uint16
	texts []text
}

// text is one of a frame: a string or bytes. Without them it is absent, or no text.
type text struct {
	string       string
	bytes        []byte
	given, other bool
}

func optional(s *string) text {
	if s == nil {
		return text{}
	}
	return text{string: *s, given: true}
}

// filled returns a text that is absent if it is empty.
func filled(s string) text { return text{string: s, given: s != ""} }

// value returns a client's value: a text, nil, or any other.
func value(v any) text {
	s, given := v.(string)
	return text{string: s, given: given, other: !given && v != nil}
}

func raw(b []byte) text { return text{bytes: b, given: b != nil} }

// document returns a value as JSON. One that JSON cannot hold is absent, which the engine refuses.
func document(v any) text {
	written, _ := json.Marshal(v)
	return raw(written)
}

func number(n uint64) text { return raw(strconv.AppendUint(nil, n, 10)) }

func flagIf(set bool, flag uint16) uint16 {
	if set {
		return flag
	}
	return 0
}

// put writes the frame into the module.
func (f *frame) put(c *host.Call) (host.Ptr, int32) {
	start := 4 + 4*len(f.texts)
	size := start
	for _, each := range f.texts {
		size += len(each.string) + len(each.bytes)
	}
	at := c.Room(size)
	to := c.View(at, uint32(size))
	to[0], to[1] = f.kind, byte(len(f.texts))
	binary.LittleEndian.PutUint16(to[2:], f.flags)
	rest := to[start:]
	for i, each := range f.texts {
		length := copy(rest, each.string) + copy(rest, each.bytes)
		rest = rest[length:]
		if each.other {
			length = -2
		} else if !each.given {
			length = -1
		}
		binary.LittleEndian.PutUint32(to[4+4*i:], uint32(length))
	}
	return at, int32(size)
}

// answer is what a machine says. Its texts, nil if absent, are lent by the module until the next call with the machine.
type answer struct {
	kind  byte
	flags uint16
	texts [2][]byte
}

// answered reads an answer, by where its address and its size are.
func answered(c *host.Call, out host.Ptr) (a answer) {
	from := c.View(c.Ptr(out), c.Uint32(out+4))
	a.kind, a.flags = from[0], binary.LittleEndian.Uint16(from[2:])
	rest := from[4+4*len(a.texts):]
	for i := range a.texts {
		if length := int32(binary.LittleEndian.Uint32(from[4+4*i:])); length >= 0 {
			a.texts[i], rest = rest[:length], rest[length:]
		}
	}
	return a
}

// read reads the answer into a *Step, the text into a *string, whether it has the flag of a changed body into a *bool, or its JSON into
// what holds it.
func (a *answer) read(into any) error {
	switch into := into.(type) {
	case nil:
		return nil
	case *string:
		*into = string(a.texts[0])
		return nil
	case *bool:
		*into = a.flags&flagChanges != 0
		return nil
	case *Step:
		if a.kind != kindStep {
			return a.step(into)
		}
		into.Bytes = bytes.Clone(a.texts[1])
	}
	return json.Unmarshal(a.texts[0], into)
}
