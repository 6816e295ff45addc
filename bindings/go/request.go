package sealwax

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/sealwax/sealwax-go/internal/host"
)

// RequestContext is the 32 bytes that identify a request. Its zero value is none, and seals nothing.
type RequestContext struct {
	bytes [32]byte
	made  bool
}

// NewRequestContext computes the context of a request, from its method, its target (the name of tools/call and
// prompts/get, the uri of resources/read) and its arguments as they came; nil are absent arguments, which differs from
// {}. It binds to all arguments, or only to those that are named: the others may differ from one round to the next, and
// are ignored.
//
// [ErrInvalidArgument] for arguments that languages read differently: a number of magnitude 2^53 or more, a key twice
// in an object, a lone surrogate, more than 100 levels; and for arguments with none of the names.
func NewRequestContext(method, target string, arguments json.RawMessage, only ...string) (RequestContext, error) {
	made := RequestContext{made: true}
	for _, name := range only {
		if strings.ContainsRune(name, 0) {
			return RequestContext{}, invalid(ErrInvalidArgument, "only: expected names without NUL")
		}
	}
	err := host.Do(func(c *host.Call) error {
		method, methodLen := c.Text(method)
		target, targetLen := c.Text(target)
		given, givenLen := c.GivenBytes(arguments)
		out := c.Room(len(made.bytes))
		var status int32
		if only == nil {
			status = c.Xsealwax_request_context(method, methodLen, target, targetLen, given, givenLen, out, c.Error())
		} else {
			names := c.Room(4 * len(only))
			for n, name := range only {
				text, _ := c.Text(name + "\x00")
				binary.LittleEndian.PutUint32(c.View(names+4*host.Ptr(n), 4), uint32(text))
			}
			status = c.Xsealwax_request_context_only(method, methodLen, target, targetLen, given, givenLen, names, int32(len(only)),
				out, c.Error())
		}
		copy(made.bytes[:], c.View(out, 32))
		return c.Check(status)
	})
	if err != nil {
		return RequestContext{}, err
	}
	return made, nil
}

// RequestContextOf returns the context of 32 bytes that were computed elsewhere.
func RequestContextOf(bytes [32]byte) RequestContext { return RequestContext{bytes, true} }

// Bytes returns the 32 bytes.
func (r RequestContext) Bytes() [32]byte { return r.bytes }

// String returns the bytes in hex digits.
func (r RequestContext) String() string { return hex.EncodeToString(r.bytes[:]) }

func (r RequestContext) check() error {
	if !r.made {
		return unmade("request context")
	}
	return nil
}

// TokenFields are the places where the messages of a method carry a token.
type TokenFields struct {
	// Kind is the kind of token: request-state or cursor. The label of a cursor is the method.
	Kind string
	// Param is the member of params in which it comes back.
	Param string
	// Result is the member of the result in which it leaves.
	Result string
	// Target is the member of params that names the target of a requestState's request; empty if there is none.
	Target string
	// NeedsCaller reports whether its handler may make such a token, and does not run without a caller.
	NeedsCaller bool
}

// TokenFieldsOf returns the places where the messages of a method carry a token; nil if there are none. It is for
// adapters.
func TokenFieldsOf(method string) (*TokenFields, error) {
	found, err := written(tokenFieldsMax, func(c *host.Call, out host.Ptr, limit int32, size host.Ptr) int32 {
		method, methodLen := c.Text(method)
		return c.Xsealwax_token_fields(method, methodLen, out, limit, size, c.Error())
	})
	if err != nil {
		return nil, err
	}
	var fields *TokenFields
	return fields, json.Unmarshal(found, &fields)
}
