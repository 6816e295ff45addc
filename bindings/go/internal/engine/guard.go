package engine

import (
	"sync"
	"sync/atomic"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
)

// Guard is the rules of a server's guard: a codec and settings. Goroutines may share it.
type Guard struct {
	codec  *host.Codec
	object *host.Shared
	defers atomic.Bool
}

// NewGuard makes a guard, or fails for settings that contradict themselves.
func NewGuard(of *sealwax.Codec, settings Settings) (*Guard, error) {
	written, err := host.JSON("settings", settings)
	if err != nil {
		return nil, err
	}
	g := &Guard{codec: host.CodecOf(of)}
	g.object = host.Share(freeMachine, func(c *host.Call) (host.Ptr, error) {
		codec, err := g.codec.At(c)
		if err != nil {
			return 0, err
		}
		at, made, err := create(c, codec, 0, frame{kindGuard, 0, []text{raw(written)}})
		// Each instance is told the same.
		if made.flags&flagDefers != 0 {
			g.defers.Store(true)
		}
		return at, err
	})
	return g, g.do(func(*host.Call, host.Ptr) error { return nil })
}

// do runs f with the guard's address, and brings the codec's new keys there.
func (g *Guard) do(f func(c *host.Call, at host.Ptr) error) error {
	return host.Do(func(c *host.Call) error {
		if _, err := g.codec.At(c); err != nil {
			return err
		}
		at, err := g.object.At(c)
		if err != nil {
			return err
		}
		return f(c, at)
	})
}

// Defers tells whether the exchange of some messages may begin late.
func (g *Guard) Defers() bool { return g.defers.Load() }

// begin begins the exchange of a message, whose token is in these members.
func (g *Guard) begin(f frame, fields TokenFields) (*Exchange, *Step, error) {
	x, step := &Exchange{machine: machine{codec: g.codec}, fields: fields}, &Step{fields: fields}
	return x, step, g.do(func(c *host.Call, at host.Ptr) error { return x.begin(c, at, f, step) })
}

// Request is a message at the SDK's handlers.
type Request struct {
	Method    string
	Fields    *TokenFields
	Target    *string
	Arguments []byte
	Token     *string
	Caller    *Principal
	WithinMs  *uint64
	Modern    bool
	Session   *ClientSession
	// Header is Mcp-Session-Id: a text, nil, or true for several.
	Header any
	// User is of a call that its user may have to confirm.
	User *User
}

// User tells how the user of a call can be asked, and what was answered.
type User struct {
	// Capabilities of the client, and its inputResponses, as JSON; nil if it sent none.
	Capabilities, Responses []byte
	// CanBeAsked tells whether the server can send its client a request while the call waits.
	CanBeAsked bool
}

// ClientSession is the metadata of a session, as a client sent it: each member a text, true for any other value, or nil.
type ClientSession struct{ ID, State any }

// Request begins the exchange of a message.
func (g *Guard) Request(r *Request) (*Exchange, *Step, error) {
	flags := flagIf(r.Modern, flagModern)
	var session ClientSession
	if r.Session != nil {
		session, flags = *r.Session, flags|flagSession
	}
	var caller Principal
	if r.Caller != nil {
		caller, flags = *r.Caller, flags|flagCaller|flagIf(r.Caller.Anonymous, flagAnonymous)
	}
	var within text
	if r.WithinMs != nil {
		within = number(*r.WithinMs)
	}
	texts := []text{
		optional(&r.Method), optional(r.Target), raw(r.Arguments), optional(r.Token), optional(caller.Issuer),
		optional(caller.Client), optional(caller.Subject), value(r.Header), value(session.ID), value(session.State), within,
	}
	if r.User != nil {
		texts = append(texts, raw(r.User.Capabilities), raw(r.User.Responses))
		flags |= flagIf(r.User.CanBeAsked, flagCanBeAsked)
	}
	return g.begin(frame{kindMessage, flags, texts}, *r.Fields)
}

// Revoke begins the exchange that revokes whatever a principal was issued until now. retainFor is in seconds; nil for the default.
func (g *Guard) Revoke(principal *Principal, retainFor *uint64) (*Exchange, *Step, error) {
	texts := []text{document(principal)}
	if retainFor != nil {
		texts = append(texts, number(*retainFor))
	}
	return g.begin(frame{kindRevocation, 0, texts}, TokenFields{})
}

// OpenLink begins the exchange that opens a link.
func (g *Guard) OpenLink(operation HandleOp) (*Exchange, *Step, error) {
	return g.begin(frame{kindHandle, 0, []text{document(operation)}}, TokenFields{})
}

// Report returns the entry of the log for a mistake that this side found.
func (g *Guard) Report(fault Fault) (*Refused, error) {
	f, entry := frame{kindReport, 0, []text{document(fault)}}, &Refused{}
	return entry, g.do(func(c *host.Call, at host.Ptr) error {
		made, found, err := create(c, 0, at, f)
		if err != nil {
			return err
		}
		defer c.Xsealwax_machine_free(made)
		return found.read(entry)
	})
}

// remembered are the token fields of some methods. Clients choose methods, so they are bounded in number and in length.
var remembered struct {
	sync.RWMutex
	by map[string]*TokenFields
}

const mostRemembered = 64

// TokenFieldsOf returns the places where the messages of a method carry a token; their names are empty if there are none.
func TokenFieldsOf(method string) (*TokenFields, error) {
	remembered.RLock()
	fields, ok := remembered.by[method]
	remembered.RUnlock()
	if ok {
		return fields, nil
	}
	fields, err := sealwax.TokenFieldsOf(method)
	if fields == nil {
		fields = &TokenFields{}
	}
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
