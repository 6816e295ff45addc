package sealwaxmcp

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"time"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sealwax/sealwax-go/internal/engine"
)

// A TransportOption sets up [Guard.HTTP] and [Guard.Stdio].
type TransportOption func(*transport) error

// TransportTTL is how long a session of the transport lives: 30 days by default.
func TransportTTL(d time.Duration) TransportOption {
	return func(t *transport) (err error) { t.settings.TTL, err = seconds("TTL", d); return err }
}

// TransportIdle ends a session of the transport after that long without a message, which needs a ledger.
func TransportIdle(d time.Duration) TransportOption {
	return func(t *transport) (err error) { t.settings.Idle, err = seconds("idle", d); return err }
}

// TransportOptional serves requests without a session too.
func TransportOptional() TransportOption {
	return func(t *transport) error { t.settings.Required = false; return nil }
}

// TransportServeLost serves a request whose session is lost as one without a session, and says so in the log: the session has
// expired, its key was retired, or it is of another audience. For clients that begin no session after a 404. Another user's
// session, and one that was ended, are refused always.
func TransportServeLost() TransportOption {
	return func(t *transport) error { t.settings.OnLost = "serve"; return nil }
}

// SEP1359 makes messages over HTTP carry the session too, for clients of SEP-1359. As it specifies, a session that another
// principal presents ends, if a ledger records it: a thief of the token can end the session.
func SEP1359() TransportOption {
	return func(t *transport) error { t.settings.SEP1359 = true; return nil }
}

// MaxBody is the largest body of a request over HTTP: 4 MiB by default, as in the SDK.
func MaxBody(size int64) TransportOption {
	return func(t *transport) error { t.maxBody = size; return nil }
}

// transport has a guard's rules for sessions of the transport.
type transport struct {
	guard    *Guard
	settings engine.Transport
	rules    *engine.Guard
	maxBody  int64
}

func (g *Guard) transport(settings engine.Transport, options []TransportOption) (*transport, error) {
	t := &transport{guard: g, settings: settings, maxBody: mcp.DefaultMaxRequestBodyBytes}
	for _, option := range options {
		if err := option(t); err != nil {
			return nil, err
		}
	}
	with := g.settings
	with.Transport = &t.settings
	rules, err := g.engine(with)
	t.rules = rules
	return t, err
}

// outerExchange is one message around HTTP or stdio, before the SDK sees it, and its answer.
type outerExchange struct {
	guard    *Guard
	caller   *caller
	overHTTP bool
	// identity is the id of a request, as it came.
	identity json.RawMessage
	withinMs uint64
	// session is what messages that leave for this one carry.
	session    string
	negotiated *Negotiated

	mu sync.Mutex
	// x is there until the engine has decided on the message; of an initialize, until its result has left.
	x *engine.Exchange
	// begins tells that it is an initialize that begins a session.
	begins bool
	// last is the step for its result.
	last *engine.Step
	// begun is called when the SDK has begun the session.
	begun func()
}

// envelope is a JSON-RPC message, of which the SDK drops what it does not know.
type envelope map[string]json.RawMessage

// envelopeOf reads a message; nil for what is no object.
func envelopeOf(text []byte) envelope {
	var message envelope
	if json.Unmarshal(text, &message) != nil {
		return nil
	}
	return message
}

// text returns a member that is a text.
func (e envelope) text(name string) (string, bool) {
	var text string
	raw, ok := e[name]
	if !ok || json.Unmarshal(raw, &text) != nil || bytes.Equal(raw, null) {
		return "", false
	}
	return text, true
}

// has tells whether a member is there, and not null.
func (e envelope) has(name string) bool {
	raw, ok := e[name]
	return ok && !bytes.Equal(raw, null)
}

var null = []byte("null")

// takeSession removes and returns the session id of a message: beside params, or inside a client's result.
func (e envelope) takeSession() any {
	holder := e
	if _, ok := e["sessionId"]; !ok {
		result := envelopeOf(e["result"])
		if result == nil {
			return nil
		}
		holder = result
		defer func() { e["result"], _ = json.Marshal(result) }()
	}
	raw, ok := holder["sessionId"]
	delete(holder, "sessionId")
	if !ok {
		return nil
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return true
	}
	return clientValue(value)
}

// putSession puts the session id on a message: in its result, or beside its method.
func (e envelope) putSession(session string) {
	written, err := json.Marshal(session)
	if err != nil {
		return
	}
	if _, ok := e["method"]; ok {
		e["sessionId"] = written
	} else if result := envelopeOf(e["result"]); result != nil {
		result["sessionId"] = written
		e["result"], _ = json.Marshal(result)
	}
}

// enter begins the exchange of a message, and returns the engine's decision.
func (t *transport) enter(
	ctx context.Context, message envelope, facts engine.TransportMessage, from *mcp.RequestExtra,
) (*outerExchange, *engine.Step, error) {
	o := &outerExchange{guard: t.guard, caller: t.guard.caller(ctx, from), overHTTP: facts.HTTP != ""}
	var initialize []byte
	if message.has("method") {
		// One that is no text is passed on as none that there is.
		method, _ := message.text("method")
		o.identity = message["id"]
		facts.Method, facts.Notification = &method, !message.has("id")
		fields, err := engine.TokenFieldsOf(method)
		if err != nil {
			return nil, nil, err
		}
		if params := envelopeOf(message["params"]); fields != nil && fields.Target != "" && params != nil {
			if target, ok := params.text(fields.Target); ok {
				facts.Target = &target
			}
		}
		if method == "initialize" {
			initialize = message["params"]
		}
	}
	x, step, err := t.rules.Transport(&facts, initialize)
	if err != nil {
		return nil, nil, err
	}
	o.x = x
	if step, err = o.caller.drive(ctx, x, step); err != nil {
		o.close()
		return nil, nil, err
	}
	if step.Step == "deliver" {
		o.withinMs, o.session, o.negotiated = step.WithinMs, step.AddSessionID, negotiatedOf(step)
		o.begins = step.Report != nil && step.Report != false
	}
	return o, step, nil
}

// leaving gives the result of an initialize its session, and over stdio every result that of its message.
func (o *outerExchange) leaving(ctx context.Context, method string, result mcp.Result) (mcp.Result, error) {
	if result == nil {
		return nil, nil
	}
	if o.begins && method == "initialize" {
		return o.initialized(ctx, result)
	}
	if o.session != "" && !o.overHTTP {
		return changed(result, []engine.Change{{Path: []string{"sessionId"}, Value: o.session}}), nil
	}
	return result, nil
}

func (o *outerExchange) initialized(ctx context.Context, result mcp.Result) (mcp.Result, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	written, err := json.Marshal(result)
	if err != nil || o.x == nil {
		return nil, o.guard.internal(ctx, invalid("initialize: expected a result of JSON, found %T", result))
	}
	step, err := o.x.On(map[string]any{"result": map[string]any{}}, written)
	if err == nil {
		step, err = o.caller.drive(ctx, o.x, step)
	}
	if err != nil {
		return nil, o.guard.internal(ctx, err)
	}
	o.last = step
	if o.begun != nil {
		o.begun()
	}
	if step.Step == "reply" {
		return nil, rpcError(step.Error)
	}
	return changed(result, step.Set), nil
}

// notResumed returns the answer to a session that the SDK refuses to begin again.
func (o *outerExchange) notResumed(ctx context.Context) (*engine.Step, error) {
	step, err := o.x.On(map[string]any{"notResumed": "initialize: refused"}, nil)
	if err != nil {
		return nil, err
	}
	return o.caller.drive(ctx, o.x, step)
}

// reply returns the message of a reply, if it has one.
func (o *outerExchange) reply(step *engine.Step) []byte {
	answer := map[string]any{"jsonrpc": "2.0", "id": o.identity}
	switch {
	case step.Error != nil:
		answer["error"] = step.Error
	case step.Done:
		answer["result"] = map[string]any{}
	default:
		return nil
	}
	written, err := json.Marshal(answer)
	if err != nil {
		return nil
	}
	return written
}

func (o *outerExchange) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.x != nil {
		o.x.Free()
		o.x = nil
	}
}

// Negotiated is what client and server settled when the session of the transport began.
type Negotiated struct {
	ProtocolVersion    string          `json:"protocolVersion"`
	ClientCapabilities json.RawMessage `json:"clientCapabilities"`
	ClientInfo         json.RawMessage `json:"clientInfo"`
	ServerCapabilities json.RawMessage `json:"serverCapabilities"`
	// ID is that of the session's token, for logs.
	ID string `json:"-"`
	// ExpiresAt is the session's end; zero for never.
	ExpiresAt time.Time `json:"-"`
}

func negotiatedOf(step *engine.Step) *Negotiated {
	if step.Negotiated == nil {
		return nil
	}
	settled := &Negotiated{ID: step.ID}
	if json.Unmarshal([]byte(*step.Negotiated), settled) != nil {
		return nil
	}
	var until int64
	if json.Unmarshal(step.ExpiresAt, &until) == nil && until != 0 {
		settled.ExpiresAt = time.Unix(until, 0)
	}
	return settled
}

// NegotiatedOf returns what was settled when the session of a request's transport began: a stateless server of the SDK does not
// know it. It is nil if the request has no such session, and on stdio, where the SDK knows it.
func NegotiatedOf(ctx context.Context) *Negotiated {
	if x := served(ctx); x != nil && x.outer != nil && x.outer.overHTTP {
		return x.outer.negotiated
	}
	return nil
}

// SessionID returns the id of a request's session, to key rows of your own: verified, and the same for the session's whole life.
// It is that of a data-layer session, or of Mcp-Session-Id and SEP-1359 behind the guard's wrappers; empty without one.
func SessionID(ctx context.Context) string {
	x := served(ctx)
	switch {
	case x == nil:
		return ""
	case x.ofSession() != nil:
		return x.ofSession().opened.ULID
	case x.outer != nil && x.outer.negotiated != nil:
		return x.outer.negotiated.ID
	}
	return ""
}

// outerExchanges has the wrapper of each message on stdio, by what the SDK passes on with it: an id that a client chose would not
// do. The SDK may refuse a message before the guard sees it, so an entry goes with its key.
type outerExchanges struct{ by sync.Map }

func (e *outerExchanges) put(o *outerExchange) *mcp.RequestExtra {
	extra := &mcp.RequestExtra{}
	key := weak.Make(extra)
	e.by.Store(key, o)
	runtime.AddCleanup(extra, func(key weak.Pointer[mcp.RequestExtra]) { e.by.Delete(key) }, key)
	return extra
}

type outerKey struct{}

// outerOf returns the wrapper that a message came through, if that is of this guard.
func (g *Guard) outerOf(ctx context.Context, req mcp.Request) *outerExchange {
	if o, ok := ctx.Value(outerKey{}).(*outerExchange); ok && o.guard == g {
		return o
	}
	if extra := req.GetExtra(); extra != nil {
		if o, ok := g.outer.by.Load(weak.Make(extra)); ok {
			return o.(*outerExchange)
		}
	}
	return nil
}
