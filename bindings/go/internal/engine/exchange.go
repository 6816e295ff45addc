package engine

import (
	"encoding/json"
	"time"

	"github.com/sealwax/sealwax-go/internal/host"
)

// Exchange is one message, from its arrival to its answer. Goroutines may share it until it is freed.
type Exchange struct {
	machine
	fields TokenFields
	// Began is when the handler's result or operation came; zero before.
	Began time.Time
}

// step reads a step that has no document.
func (a *answer) step(step *Step) error {
	found := a.texts[0]
	if a.kind == kindDeliver {
		step.Step = "deliver"
		step.Report = step.fields.Result
		if found != nil {
			opened := string(found)
			step.Opened = &opened
		}
	} else {
		step.Step = "respond"
		if found != nil {
			step.Set = []Change{{[]string{step.fields.Result}, string(found)}}
		}
	}
	if a.texts[1] == nil {
		return nil
	}
	return json.Unmarshal(a.texts[1], &step.Events)
}

// next tells the exchange something, and returns the next step.
func (x *Exchange) next(f frame) (*Step, error) {
	step := &Step{fields: x.fields}
	return step, x.on(f, step)
}

// Told gives the answer to what was asked, and returns the next step.
func (x *Exchange) Told(told Told) (*Step, error) {
	return x.next(frame{kindTold, 0, []text{raw(told.Value), filled(told.Threw), filled(told.Wrong)}})
}

// On reports what became of a delivered message, and returns the next step.
func (x *Exchange) On(event any, value []byte) (*Step, error) {
	return x.next(frame{kindEvent, 0, []text{document(event), raw(value)}})
}

// Facts are the members of a result for which the engine asks.
type Facts struct {
	ResultType, CacheScope, Token *string
	HasTTL                        bool
	// Whole is the whole result, where a step asks for it.
	Whole []byte
}

// Result reports the result of a delivered message, and returns the next step.
func (x *Exchange) Result(facts Facts) (*Step, error) {
	texts := []text{optional(facts.ResultType), optional(facts.CacheScope), optional(facts.Token), raw(facts.Whole)}
	return x.next(frame{kindResult, flagIf(facts.HasTTL, flagTTL), texts})
}

// Fork returns the metadata of a new session.
func (x *Exchange) Fork() (metadata json.RawMessage, err error) {
	err = x.on(frame{kind: kindFork}, &metadata)
	return metadata, err
}

// Write writes the session's value, as JSON.
func (x *Exchange) Write(value []byte) error {
	return x.on(frame{kindWrite, 0, []text{raw(value)}}, nil)
}

// IdempotencyKey returns the request's key for another service.
func (x *Exchange) IdempotencyKey() (key string, err error) {
	err = x.on(frame{kindIdempotencyKey, 0, nil}, &key)
	return key, err
}

// SealState returns the token of the next requestState, a value as JSON.
func (x *Exchange) SealState(value []byte) (token string, err error) {
	err = x.on(frame{kindSealState, 0, []text{raw(value)}}, &token)
	return token, err
}

// Handle begins the exchange of one operation on a handle.
func (x *Exchange) Handle(operation HandleOp, value []byte) (*Exchange, *Step, error) {
	f := frame{kindHandle, 0, []text{document(operation), raw(value)}}
	made, step := &Exchange{machine: machine{codec: x.codec}}, &Step{}
	return made, step, x.do(func(c *host.Call, at host.Ptr) error { return made.begin(c, at, f, step) })
}
