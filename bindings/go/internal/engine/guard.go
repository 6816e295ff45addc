package engine

import (
	"encoding/binary"
	"encoding/json"
	"sync"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/internal/module"
)

// Guard is the rules of a server's guard: a codec and settings. Goroutines may share it.
type Guard struct {
	codec  *host.Codec
	object *host.Shared
	events bool
	defers bool
}

// NewGuard makes a guard, or fails for settings that contradict themselves.
func NewGuard(of *sealwax.Codec, settings Settings) (*Guard, error) {
	written, err := json.Marshal(settings)
	if err != nil {
		return nil, err
	}
	codec := host.CodecOf(of)
	g := &Guard{codec: codec, events: settings.Events}
	g.object = host.Share((*module.Module).Xsealwax_guard_free, func(c *host.Call) (host.Ptr, error) {
		at, err := codec.At(c)
		if err != nil {
			return 0, err
		}
		text, size := c.Put(written)
		out := c.Room(4)
		return made(c, out, c.Xsealwax_guard_new(at, text, size, out, c.Error()))
	})
	return g, host.Do(func(c *host.Call) error {
		at, err := g.at(c)
		if err == nil {
			g.defers = c.Xsealwax_guard_defers(at) != 0
		}
		return err
	})
}

// made returns the object at an output, if the function that made it did not fail.
func made(c *host.Call, out host.Ptr, status int32) (host.Ptr, error) {
	if err := c.Check(status); err != nil {
		return 0, err
	}
	return c.Ptr(out), nil
}

// at returns the guard's address in a call, and brings the codec's new keys there.
func (g *Guard) at(c *host.Call) (host.Ptr, error) {
	if _, err := g.codec.At(c); err != nil {
		return 0, err
	}
	return g.object.At(c)
}

// Defers tells whether the exchange of some messages may begin late.
func (g *Guard) Defers() bool { return g.defers }

// Request is a message at the SDK's handlers.
type Request struct {
	Method       string
	Fields       *TokenFields
	Target       *string
	Arguments    []byte
	Token        *string
	Caller       *Principal
	WithinMs     *uint64
	Notification bool
	Modern       bool
	Session      *ClientSession
	Header       *string
}

const (
	isNotification = 1
	isModern       = 2
)

// Request begins the exchange of a message, without a document unless it has a session.
func (g *Guard) Request(r *Request) (*Exchange, *Step, error) {
	if r.Session != nil {
		return g.message(r)
	}
	x := &Exchange{guard: g}
	var step *Step
	err := host.Do(func(c *host.Call) error {
		at, err := g.at(c)
		if err != nil {
			return err
		}
		method, methodLen := c.Text(r.Method)
		target, targetLen := c.GivenText(r.Target)
		arguments, argumentsLen := c.GivenBytes(r.Arguments)
		token, tokenLen := c.GivenText(r.Token)
		var flags int32
		if r.Notification {
			flags |= isNotification
		}
		if r.Modern {
			flags |= isModern
		}
		exchange, next := c.Room(4), newOutputs(c)
		caller, within := callerOf(c, r.Caller), c.PutUint64(r.WithinMs)
		err = c.Check(c.Xsealwax_guard_request(at, method, methodLen, target, targetLen, arguments, argumentsLen, token, tokenLen,
			caller, within, flags, exchange, next.kind, next.text, next.size, c.Error()))
		if err != nil {
			return err
		}
		made := c.Ptr(exchange)
		x.own(c, made)
		step, err = x.next(c, made, next, r.Fields)
		return err
	})
	return x, step, err
}

func (g *Guard) message(r *Request) (*Exchange, *Step, error) {
	document := Message{
		Method: r.Method, Target: r.Target, Notification: r.Notification, Modern: r.Modern, Header: r.Header, Token: r.Token,
		Session: r.Session, Principal: r.Caller, WithinMs: r.WithinMs,
	}
	return g.begun(document, r.Arguments, (*module.Module).Xsealwax_guard_message)
}

// Transport begins the exchange of a message around HTTP or stdio.
func (g *Guard) Transport(message *TransportMessage, initialize []byte) (*Exchange, *Step, error) {
	return g.begun(message, initialize, (*module.Module).Xsealwax_guard_transport)
}

// Revoke begins the exchange that revokes whatever a principal was issued until now.
func (g *Guard) Revoke(principal *Principal, retainFor uint64) (*Exchange, *Step, error) {
	return g.begins(principal, func(c *host.Call, at, text host.Ptr, size int32, exchange host.Ptr, out outputs) int32 {
		return c.Xsealwax_guard_revoke(at, text, size, int64(retainFor), exchange, out.text, out.size, c.Error())
	})
}

// Report returns the entry of the log for a mistake that this side found.
func (g *Guard) Report(fault Fault) (*Refused, error) {
	written, err := json.Marshal(fault)
	if err != nil {
		return nil, err
	}
	entry := &Refused{}
	return entry, host.Do(func(c *host.Call) error {
		at, err := g.at(c)
		if err != nil {
			return err
		}
		text, size := c.Put(written)
		// The line holds at most 820 characters of others, which take 14 bytes each.
		found, err := c.Written(len(written)+16384, func(out host.Ptr, limit int32, length host.Ptr) int32 {
			return c.Xsealwax_guard_report(at, text, size, out, limit, length, c.Error())
		})
		if err != nil {
			return err
		}
		return json.Unmarshal(found, entry)
	})
}

// begin is a function that begins an exchange by a document and a JSON text beside it.
type begin = func(of *module.Module, guard, document, documentLen, text, textLen, exchange, step, stepLen, err int32) int32

func (g *Guard) begun(document any, beside []byte, function begin) (*Exchange, *Step, error) {
	return g.begins(document, func(c *host.Call, at, text host.Ptr, size int32, exchange host.Ptr, out outputs) int32 {
		value, valueLen := c.GivenBytes(beside)
		return function(c.Module, at, text, size, value, valueLen, exchange, out.text, out.size, c.Error())
	})
}

func (g *Guard) begins(
	document any, function func(c *host.Call, at, text host.Ptr, size int32, exchange host.Ptr, out outputs) int32,
) (*Exchange, *Step, error) {
	written, err := json.Marshal(document)
	if err != nil {
		return nil, nil, err
	}
	x := &Exchange{guard: g}
	var step *Step
	err = host.Do(func(c *host.Call) error {
		at, err := g.at(c)
		if err != nil {
			return err
		}
		text, size := c.Put(written)
		exchange, out := c.Room(4), newOutputs(c)
		if err := c.Check(function(c, at, text, size, exchange, out)); err != nil {
			return err
		}
		x.own(c, c.Ptr(exchange))
		step, err = out.step(c)
		return err
	})
	return x, step, err
}

// callerOf writes a sealwax_caller.
func callerOf(c *host.Call, who *Principal) host.Ptr {
	if who == nil {
		return 0
	}
	at := c.Room(callerSize)
	for i, text := range [...]*string{who.Issuer, who.Client, who.Subject} {
		part, size := c.GivenText(text)
		to := c.View(at+host.Ptr(8*i), 8)
		binary.LittleEndian.PutUint32(to, uint32(part))
		binary.LittleEndian.PutUint32(to[4:], uint32(size))
	}
	if who.Anonymous {
		c.View(at, callerSize)[callerAnonymous] = 1
	}
	return at
}

// The layout of a sealwax_caller: three texts and their sizes, and a flag.
const (
	callerSize      = 28
	callerAnonymous = 24
)

// remembered are the token fields of some methods. Clients choose methods, so they are bounded in number and in length.
var remembered struct {
	sync.RWMutex
	by map[string]*TokenFields
}

const mostRemembered = 64

// TokenFieldsOf returns the places where the messages of a method carry a token; nil if there are none.
func TokenFieldsOf(method string) (*TokenFields, error) {
	remembered.RLock()
	fields, ok := remembered.by[method]
	remembered.RUnlock()
	if ok {
		return fields, nil
	}
	fields, err := sealwax.TokenFieldsOf(method)
	if err != nil || len(method) > mostRemembered {
		return fields, err
	}
	remembered.Lock()
	defer remembered.Unlock()
	if remembered.by == nil || len(remembered.by) >= mostRemembered {
		remembered.by = map[string]*TokenFields{}
	}
	remembered.by[method] = fields
	return fields, nil
}

// CheckHandleType fails for what is no type of handles.
func CheckHandleType(kind string) error {
	return host.Do(func(c *host.Call) error {
		text, size := c.Text(kind)
		return c.Check(c.Xsealwax_check_handle_type(text, size, c.Error()))
	})
}
