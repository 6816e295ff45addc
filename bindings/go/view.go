package sealwax

import "github.com/sealwax/sealwax-go/internal/host"

// View is a [Codec] for one principal: sealers, sessions, session ids and handles.
type View struct {
	codec *codec
	host  *host.View
}

// The kinds of tokens (sealwax.h).
const (
	kindState        = 1
	kindRequestState = 2
	kindSession      = 3
	kindCursor       = 4
	kindHandleState  = 5
	kindCustom       = 127
)

// State returns the sealer of a data-layer session's state; [View.Sessions] is simpler.
func (v *View) State(sessionID string) Sealer {
	return v.sealer(host.Purpose{Kind: kindState, SessionID: &sessionID}, nil)
}

// RequestState returns the sealer of requestState for one request.
func (v *View) RequestState(context RequestContext) Sealer {
	return v.sealer(host.Purpose{Kind: kindRequestState, Context: context.bytes[:]}, context.check())
}

// Session returns the sealer of Mcp-Session-Id tokens, which hold the negotiated session.
func (v *View) Session() Sealer { return v.sealer(host.Purpose{Kind: kindSession}, nil) }

// Cursor returns the sealer of the cursors of a list method, such as tools/list.
func (v *View) Cursor(method string) Sealer {
	return v.sealer(host.Purpose{Kind: kindCursor, Label: &method}, nil)
}

// HandleState returns the sealer of handles of one type that hold their state themselves.
func (v *View) HandleState(handleType string) Sealer {
	return v.sealer(host.Purpose{Kind: kindHandleState, Label: &handleType}, nil)
}

// Custom returns the sealer of the application's own tokens, of a name, optionally bound to more.
func (v *View) Custom(label string, bindings ...Binding) Sealer {
	purpose := host.Purpose{Kind: kindCustom, Label: &label}
	for _, bind := range bindings {
		if err := bind(&purpose); err != nil {
			return Sealer{view: v, err: err}
		}
	}
	return v.sealer(purpose, nil)
}

// Binding is what a custom token is bound to beside its principal.
type Binding func(*host.Purpose) error

// ToSession binds a custom token to a session id.
func ToSession(sessionID string) Binding {
	return func(p *host.Purpose) error { p.SessionID = &sessionID; return nil }
}

// ToRequest binds a custom token to a request.
func ToRequest(context RequestContext) Binding {
	return func(p *host.Purpose) error { p.Context = context.bytes[:]; return context.check() }
}

func (v *View) sealer(purpose host.Purpose, err error) Sealer { return Sealer{v, purpose, err} }

// do runs f with the view's address in a pooled instance.
func (v *View) do(f func(c *host.Call, view host.Ptr) error) error {
	if v == nil || v.host == nil {
		return unmade("view")
	}
	return v.host.Do(f)
}

// String names the codec, and not the principal.
func (v *View) String() string {
	if v == nil || v.host == nil {
		return "View(none)"
	}
	return "View of " + v.codec.describe()
}
