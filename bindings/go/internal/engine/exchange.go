package engine

import (
	"encoding/json"
	"sync"
	"time"

	sealwax "github.com/sealwax/sealwax-go"
	"github.com/sealwax/sealwax-go/internal/host"
	"github.com/sealwax/sealwax-go/internal/module"
)

// Exchange is one message, from its arrival to its answer. Goroutines may share it until it is freed.
type Exchange struct {
	guard *Guard
	// Began is when the handler's result or operation came, if events are wanted.
	Began time.Time

	mu    sync.Mutex
	owned *host.Owned
}

// What sealwax_guard_request and sealwax_exchange_result say is next.
const (
	nextStep    = 0
	nextDeliver = 1
)

// outputs are those of most functions: what is next, and its text.
type outputs struct{ kind, text, size host.Ptr }

func newOutputs(c *host.Call) outputs {
	at := c.Room(12)
	return outputs{at, at + 4, at + 8}
}

// bytes returns the text, copied; nil if there is none.
func (o outputs) bytes(c *host.Call) []byte {
	at := c.Ptr(o.text)
	if at == 0 {
		return nil
	}
	return c.Bytes(at, c.Uint32(o.size))
}

// step returns the text as a document.
func (o outputs) step(c *host.Call) (*Step, error) {
	step := &Step{}
	return step, json.Unmarshal(c.View(c.Ptr(o.text), c.Uint32(o.size)), step)
}

func (x *Exchange) own(c *host.Call, at host.Ptr) {
	x.owned = c.Own(at, (*module.Module).Xsealwax_exchange_free)
}

// next returns what is next as a step, with its events, which one without a document does not hold.
func (x *Exchange) next(c *host.Call, at host.Ptr, out outputs, fields *TokenFields) (*Step, error) {
	kind := c.Uint32(out.kind)
	if kind == nextStep {
		return out.step(c)
	}
	step := &Step{Step: "respond"}
	text := out.bytes(c)
	if kind == nextDeliver {
		step.Step = "deliver"
		if fields != nil {
			step.Report = fields.Result
		}
		if text != nil {
			opened := string(text)
			step.Opened = &opened
		}
	} else if text != nil && fields != nil {
		step.Result = map[string]any{fields.Result: string(text)}
	}
	if !x.guard.events || text == nil {
		return step, nil
	}
	if err := c.Check(c.Xsealwax_exchange_events(at, out.text, out.size, c.Error())); err != nil {
		return nil, err
	}
	return step, json.Unmarshal(c.View(c.Ptr(out.text), c.Uint32(out.size)), &step.Events)
}

// do runs f in the exchange's instance, where the codec's new keys are brought first.
func (x *Exchange) do(f func(c *host.Call, at host.Ptr) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.owned == nil {
		return &sealwax.Error{
			Code:    sealwax.ErrInvalidArgument,
			Message: "expected a request that is being served, found one that was answered or cancelled",
		}
	}
	return x.owned.Do(func(c *host.Call, at host.Ptr) error {
		if _, err := x.guard.codec.At(c); err != nil {
			return err
		}
		return f(c, at)
	})
}

// On reports the outcome of the last step, and returns the next one.
func (x *Exchange) On(event any, value []byte) (step *Step, err error) {
	written, err := json.Marshal(event)
	if err != nil {
		return nil, err
	}
	err = x.do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(written)
		beside, besideLen := c.GivenBytes(value)
		out := newOutputs(c)
		if err := c.Check(c.Xsealwax_exchange_on(at, text, size, beside, besideLen, out.text, out.size, c.Error())); err != nil {
			return err
		}
		step, err = out.step(c)
		return err
	})
	return step, err
}

// Facts are the members of a result for which the engine asks.
type Facts struct {
	ResultType, CacheScope, Token *string
	HasTTL                        bool
}

// Document returns the facts of a result that was made again.
func (f Facts) Document(fields *TokenFields) any {
	members := map[string]any{}
	if f.ResultType != nil {
		members["resultType"] = *f.ResultType
	}
	if f.CacheScope != nil {
		members["cacheScope"] = *f.CacheScope
	}
	if f.HasTTL {
		members["ttlMs"] = true
	}
	if f.Token != nil && fields != nil {
		members[fields.Result] = *f.Token
	}
	return map[string]any{"members": members}
}

// Result reports the result of a delivered message, and returns the next step.
func (x *Exchange) Result(facts Facts, fields *TokenFields) (step *Step, err error) {
	err = x.do(func(c *host.Call, at host.Ptr) error {
		kind, kindLen := c.GivenText(facts.ResultType)
		scope, scopeLen := c.GivenText(facts.CacheScope)
		token, tokenLen := c.GivenText(facts.Token)
		var hasTTL int32
		if facts.HasTTL {
			hasTTL = 1
		}
		out := newOutputs(c)
		err := c.Check(c.Xsealwax_exchange_result(at, kind, kindLen, scope, scopeLen, token, tokenLen, hasTTL, out.kind, out.text,
			out.size, c.Error()))
		if err != nil {
			return err
		}
		step, err = x.next(c, at, out, fields)
		return err
	})
	return step, err
}

// Fork returns the metadata of a new session.
func (x *Exchange) Fork() (metadata json.RawMessage, err error) {
	err = x.do(func(c *host.Call, at host.Ptr) error {
		out := newOutputs(c)
		if err := c.Check(c.Xsealwax_exchange_fork(at, out.text, out.size, c.Error())); err != nil {
			return err
		}
		metadata = out.bytes(c)
		return nil
	})
	return metadata, err
}

// Write writes the session's value, as JSON.
func (x *Exchange) Write(value []byte) error {
	return x.do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(value)
		return c.Check(c.Xsealwax_exchange_write(at, text, size, c.Error()))
	})
}

// Update writes the session's value as its update functions made it, as JSON.
func (x *Exchange) Update(value []byte) error {
	return x.do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(value)
		return c.Check(c.Xsealwax_exchange_update(at, text, size, c.Error()))
	})
}

// SealState returns the token of the next requestState, a value as JSON.
func (x *Exchange) SealState(value []byte) (token string, err error) {
	err = x.do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(value)
		out := newOutputs(c)
		if err := c.Check(c.Xsealwax_exchange_seal_state(at, text, size, out.text, out.size, c.Error())); err != nil {
			return err
		}
		token = string(out.bytes(c))
		return nil
	})
	return token, err
}

// Handle begins the exchange of one operation on a handle.
func (x *Exchange) Handle(operation HandleOp, value []byte) (*Exchange, *Step, error) {
	written, err := json.Marshal(operation)
	if err != nil {
		return nil, nil, err
	}
	handling := &Exchange{guard: x.guard}
	var step *Step
	err = x.do(func(c *host.Call, at host.Ptr) error {
		text, size := c.Put(written)
		beside, besideLen := c.GivenBytes(value)
		exchange, out := c.Room(4), newOutputs(c)
		err := c.Check(c.Xsealwax_exchange_handle(at, text, size, beside, besideLen, exchange, out.text, out.size, c.Error()))
		if err != nil {
			return err
		}
		handling.own(c, c.Ptr(exchange))
		step, err = out.step(c)
		return err
	})
	return handling, step, err
}

// Free frees it; this cancels it at any step.
func (x *Exchange) Free() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.owned != nil {
		x.owned.Close()
		x.owned = nil
	}
}
